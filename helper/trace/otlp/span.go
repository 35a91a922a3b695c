package otlp

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"gatehouse/helper/trace"
)

// Record queues the spans of a request.
func (e *Exporter) Record(r *trace.Request) {
	own := spanContext(r.Trace, r.Trace.SpanID)
	server := e.span(r.Method+" "+r.Route, oteltrace.SpanKindServer, own, r.Start, r.End)
	server.ChildSpanCount = len(r.Attempts) + len(r.Calls)
	server.Attributes = []attribute.KeyValue{
		attribute.String("http.request.method", r.Method), attribute.String("url.path", r.Path), attribute.String("server.address", r.Host),
		attribute.String("http.route", r.Route), attribute.String("client.address", r.Client), attribute.Int("http.response.status_code", r.Status),
		attribute.String("gatehouse.upstream", r.Upstream),
	}
	if r.Code != "" {
		server.Attributes = append(server.Attributes, attribute.String("error.type", r.Code))
	}
	if r.Status >= http.StatusInternalServerError {
		server.Status = sdk.Status{Code: codes.Error, Description: r.Code}
	}
	if r.Parent != [8]byte{} {
		server.Parent = spanContext(r.Trace, r.Parent).WithRemote(true)
	}
	e.processor.OnEnd(server.Snapshot())
	for _, a := range r.Attempts {
		e.processor.OnEnd(e.attempt(r, own, a))
	}
	for _, c := range r.Calls {
		span := e.span("redis limit", oteltrace.SpanKindClient, spanContext(r.Trace, r.Trace.Child().SpanID), c.Start, c.End)
		span.Parent, span.Attributes = own, []attribute.KeyValue{attribute.String("db.system.name", "redis")}
		fail(&span, c.Err)
		e.processor.OnEnd(span.Snapshot())
	}
}

func (e *Exporter) attempt(r *trace.Request, parent oteltrace.SpanContext, a trace.Attempt) sdk.ReadOnlySpan {
	span := e.span(r.Method, oteltrace.SpanKindClient, spanContext(r.Trace, a.Span), a.Start, a.End)
	span.Parent = parent
	span.Attributes = []attribute.KeyValue{attribute.String("http.request.method", r.Method), attribute.String("gatehouse.backend", a.Backend)}
	if a.Status != 0 {
		span.Attributes = append(span.Attributes, attribute.Int("http.response.status_code", a.Status))
	}
	if a.Error != "" {
		span.Attributes = append(span.Attributes, attribute.String("error.type", a.Error))
	}
	if a.Error != "" || a.Status >= http.StatusBadRequest {
		span.Status = sdk.Status{Code: codes.Error, Description: a.Error}
	}
	return span.Snapshot()
}

// Fetched queues the spans of a fetch of keys, a trace of their own: one for the
// whole, and one below it for each document.
func (e *Exporter) Fetched(f *trace.Fetch) {
	position := trace.New()
	own := spanContext(position, position.SpanID)
	whole := e.span("fetch keys", oteltrace.SpanKindInternal, own, f.Start, f.End)
	whole.ChildSpanCount = len(f.Gets)
	whole.Attributes = []attribute.KeyValue{attribute.StringSlice("gatehouse.providers", f.Providers)}
	fail(&whole, f.Err)
	e.processor.OnEnd(whole.Snapshot())
	for _, g := range f.Gets {
		span := e.span(http.MethodGet, oteltrace.SpanKindClient, spanContext(position, position.Child().SpanID), g.Start, g.End)
		span.Parent = own
		span.Attributes = []attribute.KeyValue{attribute.String("http.request.method", http.MethodGet), attribute.String("url.full", g.URL)}
		if g.Status != 0 {
			span.Attributes = append(span.Attributes, attribute.Int("http.response.status_code", g.Status))
		}
		if g.Status >= http.StatusBadRequest {
			span.Attributes = append(span.Attributes, attribute.String("error.type", strconv.Itoa(g.Status)))
			span.Status = sdk.Status{Code: codes.Error} // the number says it
		} else {
			fail(&span, g.Err)
		}
		e.processor.OnEnd(span.Snapshot())
	}
}

// span is what every span of this gateway has.
func (e *Exporter) span(name string, kind oteltrace.SpanKind, own oteltrace.SpanContext, start, end time.Time) tracetest.SpanStub {
	return tracetest.SpanStub{
		Name: name, SpanKind: kind, SpanContext: own, StartTime: start, EndTime: end, Resource: e.resource, InstrumentationScope: e.scope,
	}
}

// fail marks a span as failed, unless err is nil. Types of errors are few, as
// the conventions of OpenTelemetry want it.
func fail(span *tracetest.SpanStub, err error) {
	if err == nil {
		return
	}
	kind := "_OTHER"
	if timed := net.Error(nil); errors.As(err, &timed) && timed.Timeout() { // the context's error is one, too
		kind = "timeout"
	}
	span.Attributes = append(span.Attributes, attribute.String("error.type", kind))
	span.Status = sdk.Status{Code: codes.Error, Description: err.Error()}
}

func spanContext(c trace.Context, span [8]byte) oteltrace.SpanContext {
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{TraceID: c.TraceID, SpanID: span, TraceFlags: oteltrace.FlagsSampled})
}

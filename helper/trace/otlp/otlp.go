package otlp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"gatehouse/helper/trace"
)

const exportTimeout = 10 * time.Second

// Options are where spans go and from whom.
type Options struct {
	Endpoint string // the collector's base URL, such as http://otel-collector:4318
	Version  string // of this gateway
	// Failed is told why spans couldn't be sent, at most once a minute; nil: nobody is.
	Failed func(error)
}

// Exporter sends spans.
type Exporter struct {
	processor sdk.SpanProcessor
	resource  *resource.Resource
	scope     instrumentation.Scope
}

// New makes an exporter. The collector needn't be there yet.
func New(ctx context.Context, o Options) (*Exporter, error) {
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimSuffix(o.Endpoint, "/")+"/v1/traces"), otlptracehttp.WithTimeout(exportTimeout))
	if err != nil {
		return nil, fmt.Errorf("making the exporter for %s: %w", o.Endpoint, err)
	}
	return &Exporter{
		processor: sdk.NewBatchSpanProcessor(&outlet{SpanExporter: client, failed: o.Failed}),
		resource:  resource.NewSchemaless(attribute.String("service.name", "gatehouse"), attribute.String("service.version", o.Version)),
		scope:     instrumentation.Scope{Name: "gatehouse", Version: o.Version},
	}, nil
}

// Record queues the spans of a request.
func (e *Exporter) Record(r *trace.Request) {
	own := spanContext(r.Trace, r.Trace.SpanID)
	server := tracetest.SpanStub{
		Name: r.Method + " " + r.Route, SpanContext: own, SpanKind: oteltrace.SpanKindServer,
		StartTime: r.Start, EndTime: r.End, Resource: e.resource, InstrumentationScope: e.scope, ChildSpanCount: len(r.Attempts),
		Attributes: []attribute.KeyValue{
			attribute.String("http.request.method", r.Method), attribute.String("url.path", r.Path), attribute.String("server.address", r.Host),
			attribute.String("http.route", r.Route), attribute.String("client.address", r.Client), attribute.Int("http.response.status_code", r.Status),
			attribute.String("gatehouse.upstream", r.Upstream),
		},
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
}

func (e *Exporter) attempt(r *trace.Request, parent oteltrace.SpanContext, a trace.Attempt) sdk.ReadOnlySpan {
	span := tracetest.SpanStub{
		Name: r.Method, SpanContext: spanContext(r.Trace, a.Span), Parent: parent, SpanKind: oteltrace.SpanKindClient,
		StartTime: a.Start, EndTime: a.End, Resource: e.resource, InstrumentationScope: e.scope,
		Attributes: []attribute.KeyValue{attribute.String("http.request.method", r.Method), attribute.String("gatehouse.backend", a.Backend)},
	}
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

func spanContext(c trace.Context, span [8]byte) oteltrace.SpanContext {
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{TraceID: c.TraceID, SpanID: span, TraceFlags: oteltrace.FlagsSampled})
}

// Close sends what is queued, or gives up with ctx's error.
func (e *Exporter) Close(ctx context.Context) error {
	return e.processor.Shutdown(ctx)
}

package otlp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"gatehouse/helper/trace"
	"gatehouse/helper/trace/otlp"
	"gatehouse/helper/trace/otlp/otlptest"
)

// exported is what a collector gets of what is recorded.
func exported(t *testing.T, record func(*otlp.Exporter)) []*spans.Span {
	t.Helper()
	collector := otlptest.New(t)
	e, err := otlp.New(context.Background(), otlp.Options{Endpoint: collector.Endpoint, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	record(e)
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return collector.Spans()
}

func TestARequestIsOneSpanAndOneForEachAttemptAndCall(t *testing.T) {
	own := trace.New()
	start := time.Now()
	got := exported(t, func(e *otlp.Exporter) {
		e.Record(&trace.Request{
			Trace: own, Parent: [8]byte{1}, Start: start, End: start.Add(time.Second), Method: "GET", Route: "orders", Path: "/order/1", Status: 502, Code: "upstream_reset",
			Attempts: []trace.Attempt{{Span: [8]byte{2}, Start: start, End: start, Backend: "http://a", Error: "upstream_reset"}, {Span: [8]byte{3}, Start: start, End: start, Backend: "http://b", Status: 200}},
			Calls:    []trace.Call{{Start: start, End: start.Add(time.Millisecond)}, {Start: start, End: start, Err: fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)}},
		})
	})
	if len(got) != 5 {
		t.Fatalf("got %v", got)
	}
	server, attempts, calls := got[0], got[1:3], got[3:]
	if server.Name != "GET orders" || server.Kind != spans.Span_SPAN_KIND_SERVER || server.ParentSpanId[0] != 1 || server.Status.Code != spans.Status_STATUS_CODE_ERROR {
		t.Errorf("the request's span: %v", server)
	}
	for i, attempt := range attempts {
		if string(attempt.ParentSpanId) != string(own.SpanID[:]) || attempt.SpanId[0] != byte(i+2) || attempt.Kind != spans.Span_SPAN_KIND_CLIENT || string(attempt.TraceId) != string(own.TraceID[:]) {
			t.Errorf("attempt %d: %v", i, attempt)
		}
	}
	for i, call := range calls {
		if call.Name != "redis limit" || string(call.ParentSpanId) != string(own.SpanID[:]) || otlptest.Attribute(call, "db.system.name") != "redis" {
			t.Errorf("call %d: %v", i, call)
		}
	}
	if calls[0].GetStatus().GetCode() != spans.Status_STATUS_CODE_UNSET || calls[0].EndTimeUnixNano-calls[0].StartTimeUnixNano != 1e6 {
		t.Errorf("the call that was answered: %v", calls[0])
	}
	if calls[1].Status.Code != spans.Status_STATUS_CODE_ERROR || otlptest.Attribute(calls[1], "error.type") != "timeout" || string(calls[0].SpanId) == string(calls[1].SpanId) {
		t.Errorf("the call that wasn't: %v", calls[1])
	}
}

func TestAFetchOfKeysIsATraceOfItsOwn(t *testing.T) {
	start := time.Now()
	fetch := &trace.Fetch{
		Providers: []string{"identity"}, Start: start, End: start.Add(time.Second), Err: errors.New("no keys"),
		Gets: []trace.Get{
			{URL: "http://issuer/discovery", Start: start, End: start, Status: 200},
			{URL: "http://issuer/keys", Start: start, End: start, Status: 500, Err: errors.New("it answered with the status 500")},
			{URL: "http://issuer/keys", Start: start, End: start, Err: errors.New("refused")},
		},
	}
	got := exported(t, func(e *otlp.Exporter) { e.Fetched(fetch) })
	if len(got) != 4 {
		t.Fatalf("got %v", got)
	}
	whole := got[0]
	if whole.Name != "fetch keys" || len(whole.ParentSpanId) != 0 || whole.Status.GetMessage() != "no keys" || whole.Status.Code != spans.Status_STATUS_CODE_ERROR {
		t.Errorf("the fetch's span: %v", whole)
	}
	for i, want := range []struct{ status, kind string }{{"200", ""}, {"500", "500"}, {"", "_OTHER"}} {
		get := got[i+1]
		if get.Kind != spans.Span_SPAN_KIND_CLIENT || string(get.ParentSpanId) != string(whole.SpanId) || string(get.TraceId) != string(whole.TraceId) {
			t.Errorf("document %d isn't below the fetch: %v", i, get)
		}
		if otlptest.Attribute(get, "url.full") != fetch.Gets[i].URL || otlptest.Attribute(get, "http.response.status_code") != want.status || otlptest.Attribute(get, "error.type") != want.kind {
			t.Errorf("document %d, want %v: %v", i, want, get)
		}
		if failed := get.Status.GetCode() == spans.Status_STATUS_CODE_ERROR; failed != (want.kind != "") {
			t.Errorf("document %d has the status %v", i, get.Status)
		}
	}
}

func TestACollectorThatIsAwayHoldsNothingUp(t *testing.T) {
	e, err := otlp.New(context.Background(), otlp.Options{Endpoint: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for range 10_000 {
		e.Record(&trace.Request{Trace: trace.New(), Start: start, End: start})
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("recording took %v", took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if e.Close(ctx) == nil {
		t.Error("Close didn't say that spans were lost")
	}
}

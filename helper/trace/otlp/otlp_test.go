package otlp_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"gatehouse/helper/trace"
	"gatehouse/helper/trace/otlp"
)

// receive is a collector that gives what it got.
func receive(t *testing.T) (endpoint string, got chan *spans.Span) {
	t.Helper()
	got = make(chan *spans.Span, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		raw, err := io.ReadAll(body)
		var request collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					got <- span
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func TestARequestIsOneSpanAndOneForEachAttempt(t *testing.T) {
	endpoint, got := receive(t)
	e, err := otlp.New(context.Background(), otlp.Options{Endpoint: endpoint, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	own := trace.New()
	start := time.Now()
	e.Record(&trace.Request{
		Trace: own, Parent: [8]byte{1}, Start: start, End: start.Add(time.Second), Method: "GET", Route: "orders", Path: "/order/1", Status: 502, Code: "upstream_reset",
		Attempts: []trace.Attempt{{Span: [8]byte{2}, Start: start, End: start, Backend: "http://a", Error: "upstream_reset"}, {Span: [8]byte{3}, Start: start, End: start, Backend: "http://b", Status: 200}},
	})
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	server, first, second := <-got, <-got, <-got
	if server.Name != "GET orders" || server.Kind != spans.Span_SPAN_KIND_SERVER || server.ParentSpanId[0] != 1 || server.Status.Code != spans.Status_STATUS_CODE_ERROR {
		t.Errorf("the request's span: %v", server)
	}
	for i, attempt := range []*spans.Span{first, second} {
		if string(attempt.ParentSpanId) != string(own.SpanID[:]) || attempt.SpanId[0] != byte(i+2) || attempt.Kind != spans.Span_SPAN_KIND_CLIENT || string(attempt.TraceId) != string(own.TraceID[:]) {
			t.Errorf("attempt %d: %v", i, attempt)
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

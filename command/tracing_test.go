package command

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"gatehouse/helper/trace/otlp/otlptest"
)

// newParented is a backend that says which traceparent it got, and breaks the connection instead where it is told to.
func newParented(t *testing.T, breaks bool) (url string, parents chan string) {
	t.Helper()
	parents = make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		parents <- r.Header.Get("Traceparent")
		if breaks {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, parents
}

const (
	traceID    = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan = "00f067aa0ba902b7"
)

// From the client through a backend that fails to one that answers, each knows the span above it.
func TestATraceIsWhole(t *testing.T) {
	collector := otlptest.New(t)
	broken, toBroken := newParented(t, true)
	good, toGood := newParented(t, false)
	path := file(t, "config.yaml", fmt.Sprintf(`server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0", trusted_proxies: [127.0.0.1/32]}
tracing: {otlp_endpoint: %q, sample_ratio: 0}
upstreams: {order: {backends: [{url: %q}, {url: %q}], route: {auth: none, path: "= /order"}}}
`, collector.Endpoint, broken, good))
	r := start(t, nil, "--config", path)
	public, _ := r.addresses(t)
	send := func(path, traceparent string) (status int) {
		request, err := http.NewRequest(http.MethodGet, "http://"+public+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if traceparent != "" {
			request.Header.Set("Traceparent", traceparent)
		}
		return do(request).status
	}
	for _, call := range []struct {
		path, traceparent string
		status            int
	}{
		{"/order", "00-" + traceID + "-" + callerSpan + "-01", 200},
		{"/nowhere", "00-" + traceID + "-" + callerSpan + "-01", 404},
		{"/order", "00-" + strings.Repeat("1", 32) + "-" + callerSpan + "-00", 200}, // the caller doesn't record, nor does the gateway
		{"/order", "", 200}, // a trace that begins here, of which none is chosen
	} {
		if status := send(call.path, call.traceparent); status != call.status {
			t.Fatalf("%s: %d, want %d", call.path, status, call.status)
		}
	}
	r.interrupt() // what is queued is sent now
	if code := r.end(t); code != 0 {
		t.Fatalf("it ended with %d: %s", code, r.stderr)
	}
	byName := map[string][]*otlp.Span{}
	for _, span := range collector.Spans() {
		if hex.EncodeToString(span.TraceId) != traceID {
			t.Errorf("a span of a trace that nobody records: %v", span)
		}
		byName[span.Name] = append(byName[span.Name], span)
	}
	if len(byName["GET = /order"]) != 1 || len(byName["GET"]) != 2 || len(byName["GET _none"]) != 1 {
		t.Fatalf("the collector got %v", byName)
	}
	server, first, second := byName["GET = /order"][0], byName["GET"][0], byName["GET"][1]
	if got := hex.EncodeToString(server.ParentSpanId); got != callerSpan || server.Kind != otlp.Span_SPAN_KIND_SERVER {
		t.Errorf("the request's span: %v", server)
	}
	for _, row := range []struct {
		span    *otlp.Span
		to      chan string
		backend string
		status  otlp.Status_StatusCode
	}{{first, toBroken, broken, otlp.Status_STATUS_CODE_ERROR}, {second, toGood, good, otlp.Status_STATUS_CODE_UNSET}} {
		if row.span.Kind != otlp.Span_SPAN_KIND_CLIENT || string(row.span.ParentSpanId) != string(server.SpanId) {
			t.Errorf("an attempt's span isn't below the request's: %v", row.span)
		}
		if got, want := <-row.to, "00-"+traceID+"-"+hex.EncodeToString(row.span.SpanId)+"-01"; got != want {
			t.Errorf("%s got the parent %s, want %s", row.backend, got, want)
		}
		if !strings.Contains(fmt.Sprint(row.span.Attributes), row.backend) || row.span.GetStatus().GetCode() != row.status {
			t.Errorf("the attempt at %s, which should have the status %s: %v", row.backend, row.status, row.span)
		}
		if row.span.StartTimeUnixNano < server.StartTimeUnixNano || row.span.EndTimeUnixNano > server.EndTimeUnixNano {
			t.Errorf("the attempt isn't within the request: %v, %v", row.span, server)
		}
	}
	if got := <-toGood; !strings.HasPrefix(got, "00-"+strings.Repeat("1", 32)) || !strings.HasSuffix(got, "-00") {
		t.Errorf("an unsampled trace reached the backend as %s", got)
	}
}

// A collector that isn't there changes nothing for requests, and is told of once.
func TestWithoutItsCollectorTheGatewayServes(t *testing.T) {
	s := newService(t)
	path := file(t, "config.yaml", fmt.Sprintf(`server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
tracing: {otlp_endpoint: "http://127.0.0.1:1", sample_ratio: 1}
upstreams: {order: {url: %q, route: {auth: none}}}
`, s.URL))
	r := start(t, nil, "--config", path)
	public, _ := r.addresses(t)
	if got := get(public, "/order"); got.status != 200 {
		t.Errorf("got %+v", got)
	}
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
	if output := r.stdout.String(); !strings.Contains(output, "spans can't be sent") && !strings.Contains(output, "the last spans were lost") {
		t.Errorf("the log doesn't say that spans were lost:\n%s", output)
	}
}

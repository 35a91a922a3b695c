package gateway_test

import (
	"strings"
	"testing"

	"gatehouse/handler/gateway"
	"gatehouse/helper/trace"
)

const trustingConfig = "server: {trusted_proxies: [127.0.0.0/8]}\n" + openConfig

func TestForwardingHeadersOfATrustedProxyAreContinued(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), trustingConfig)
	s.raw(request("GET /", "X-Forwarded-For: 6.6.6.6, 203.0.113.7", "X-Forwarded-Host: shop.test", "X-Forwarded-Proto: https", "X-Real-IP: 203.0.113.7",
		"X-Original-URL: /kept", "X-Forwarded-Prefix: /shop", "X_Forwarded_For: 9.9.9.9", "X-Request-Id: edge-17", "X-User-Id: evil"))
	head := backend.last(t)
	for name, want := range map[string]string{
		"X-Forwarded-For": "6.6.6.6, 203.0.113.7, 127.0.0.1", "X-Forwarded-Host": "shop.test", "X-Forwarded-Proto": "https", "X-Real-Ip": "203.0.113.7",
		"X-Original-Url": "/kept", "X-Forwarded-Prefix": "/shop", "X_forwarded_for": "", "X-Request-Id": "edge-17", "X-User-Id": "",
	} {
		if got := strings.Join(headerLines(head, name), "|"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	line := s.only()
	logged(t, line, map[string]any{"client_ip": "203.0.113.7"})
	if id, _ := line["trace_id"].(string); len(id) != 32 {
		t.Errorf("the trace id in the log is %q", id)
	}
}

func TestRequestID(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 200 OK\r\nX-Request-Id: upstream\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	trusting, wary := start(t, backend.Addr().String(), trustingConfig), start(t, backend.Addr().String(), openConfig)
	for _, row := range []struct {
		name    string
		gateway *stand
		sent    []string
		kept    bool
	}{
		{"of a trusted proxy is kept", trusting, []string{"X-Request-Id: edge-17"}, true},
		{"of a client is replaced", wary, []string{"X-Request-Id: edge-17"}, false},
		{"of 4000 bytes is replaced", trusting, []string{"X-Request-Id: " + strings.Repeat("a", 4000)}, false},
		{"with a blank and a quote is replaced", trusting, []string{`X-Request-Id: a "b`}, false},
		{"given twice is replaced", trusting, []string{"X-Request-Id: a", "X-Request-Id: b"}, false},
		{"is made where none is sent", wary, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := row.gateway.get("/", row.sent...)
			ids, up := got.Header.Values("X-Request-Id"), headerLines(backend.last(t), "X-Request-Id")
			if len(ids) != 1 || len(up) != 1 || ids[0] != up[0] {
				t.Fatalf("the client got %q, the backend %q", ids, up)
			}
			if row.kept != (ids[0] == "edge-17") || !row.kept && len(ids[0]) != 32 {
				t.Errorf("got %q", ids[0])
			}
		})
	}
}

func TestTraceIsContinued(t *testing.T) {
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), openConfig)
	for _, row := range []struct {
		name      string
		sent      []string
		continued bool
		state     string
	}{
		{"a valid parent", []string{"traceparent: 00-" + traceID + "-00f067aa0ba902b7-01", "tracestate: a=1", "tracestate: b=2"}, true, "a=1|b=2"},
		{"a malformed parent", []string{"traceparent: zzz", "tracestate: a=1"}, false, ""},
		{"an all-zero trace id", []string{"traceparent: 00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01"}, false, ""},
		{"two parents", []string{"traceparent: 00-" + traceID + "-00f067aa0ba902b7-01", "traceparent: 00-" + traceID + "-00f067aa0ba902b8-01"}, false, ""},
		{"a malformed state", []string{"traceparent: 00-" + traceID + "-00f067aa0ba902b7-01", "tracestate: =;,"}, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s.get("/", row.sent...)
			parents := headerLines(backend.last(t), "Traceparent")
			if len(parents) != 1 || len(parents[0]) != 55 {
				t.Fatalf("the backend got %q", parents)
			}
			if got := strings.Contains(parents[0], traceID); got != row.continued {
				t.Errorf("the backend got %q, continued: %v, want %v", parents[0], got, row.continued)
			}
			if strings.Contains(parents[0], "00f067aa0ba902b7") {
				t.Errorf("the parent's span is passed on as the gateway's own: %q", parents[0])
			}
			if state := strings.Join(headerLines(backend.last(t), "Tracestate"), "|"); state != row.state {
				t.Errorf("tracestate is %q, want %q", state, row.state)
			}
		})
	}
}

// Without spans, the gateway has no say in what is sampled.
func TestTheSampledFlagIsPassedOnAsItCame(t *testing.T) {
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, ratio := range []float64{-1, 0, 1} { // -1: nobody records
		backend := newRawBackend(t, says(okAnswer))
		recorded := 0
		s := startWith(t, backend.Addr().String(), `upstreams: {app: {url: "http://BACKEND", route: {path: /, auth: none}}}`, func(d *gateway.Deps) {
			if ratio >= 0 {
				d.Tracing = gateway.Tracing{Record: func(*trace.Request) { recorded++ }, Sampler: trace.NewSampler(ratio)}
			}
		})
		for _, row := range []struct {
			name, parent, flag string
			recorded           bool
		}{
			{"a trace that begins here is as the sampler says", "", map[bool]string{true: "01", false: "00"}[ratio == 1], ratio == 1},
			{"a client's own flag doesn't force our sampling past the ratio", "00-" + traceID + "-00f067aa0ba902b7-01", "01", ratio == 1},
			{"nor an id that the sampler would choose", "00-" + strings.Repeat("0", 31) + "1-00f067aa0ba902b7-01", "01", ratio == 1},
			{"a client that doesn't sample isn't sampled", "00-" + traceID + "-00f067aa0ba902b7-00", "00", false},
		} {
			recorded = 0
			var headers []string
			if row.parent != "" {
				headers = []string{"Traceparent: " + row.parent}
			}
			s.get("/", headers...)
			s.lines() // the request has ended
			if got := headerLines(backend.last(t), "Traceparent"); len(got) != 1 || !strings.HasSuffix(got[0], "-"+row.flag) || (recorded == 1) != row.recorded {
				t.Errorf("ratio %v, %s: %q, %d recorded", ratio, row.name, got, recorded)
			}
		}
	}
}

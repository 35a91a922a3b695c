package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/server/servertest"
)

const errorConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET, leeway: 0s}
upstreams:
  order: {url: "http://BACKEND", timeouts: {response_header: 300ms, request: 2s, idle: 1s}, breaker: {failures: 0}}
routes:
  - {path: /order, upstream: order, cors: {allowed_origins: ["https://app.test"], allowed_methods: [GET]}}
  - {path: /open, upstream: order, auth: none, max_body_size: 10}
  - {path: /post, upstream: order, auth: none, methods: [POST]}
  - {path: /slow, upstream: order, auth: none}
  - {path: /limited, upstream: order, auth: none, limit: {rate: 1/h, burst: 1}}
  - {path: /claims, upstream: order, scopes: [], claims: {tenant: acme}}
`

// TestErrors goes through the error table of the documentation: status, code,
// headers, the log line and the counts, each exactly once.
func TestErrors(t *testing.T) {
	backend := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		switch {
		case strings.Contains(head, "/slow/header"):
			_, _ = io.Copy(io.Discard, conn) // until the gateway gives up
		case strings.Contains(head, "/slow/reset"):
			_ = conn.(*net.TCPConn).SetLinger(0)
		case strings.Contains(head, "/slow/garbage"):
			_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n\r\n")
		case strings.Contains(head, "/slow/bighead"):
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("a", 1<<20)+"\r\n\r\n")
		default:
			_, _ = io.WriteString(conn, okAnswer)
		}
	})
	s := start(t, backend.Addr().String(), errorConfig)
	s.get("/limited")
	scope := func(scope string) string { return bearer(t, map[string]any{"scope": scope}) }

	for _, row := range []struct {
		name    string
		method  string
		path    string
		body    string
		headers []string
		status  int
		code    string
		route   string
		want    map[string]string // response headers
	}{
		{"dot segments are refused", "GET", "/order/%2e%2e/x", "", nil, 400, "bad_request", "_none", nil},
		{"no credentials", "GET", "/order", "", nil, 401, "credentials_missing", "/order", map[string]string{"WWW-Authenticate": `Bearer realm="gatehouse"`}},
		{"another scheme is no token", "GET", "/order", "", []string{"Authorization: Basic YTpi"}, 401, "credentials_missing", "/order", nil},
		{"a malformed token", "GET", "/order", "", []string{"Authorization: Bearer x.y"}, 401, "token_invalid", "/order",
			map[string]string{"WWW-Authenticate": `Bearer realm="gatehouse", error="invalid_token"`}},
		{"no exp", "GET", "/order", "", []string{bearer(t, map[string]any{"exp": nil})}, 401, "token_invalid", "/order", nil},
		{"an expired token", "GET", "/order", "", []string{bearer(t, map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})}, 403, "token_expired", "/order",
			map[string]string{"WWW-Authenticate": `Bearer realm="gatehouse", error="invalid_token", error_description="the token has expired"`}},
		{"a scope is missing", "GET", "/order", "", []string{scope("user orders ORDER")}, 403, "scope_missing", "/order",
			map[string]string{"WWW-Authenticate": `Bearer realm="gatehouse", error="insufficient_scope", scope="order"`}},
		{"a claim differs", "GET", "/claims", "", []string{bearer(t, map[string]any{"tenant": "globex"})}, 403, "claim_mismatch", "/claims", nil},
		{"no route", "GET", "/orders", "", nil, 404, "no_route", "_none", nil},
		{"another method", "GET", "/post", "", nil, 405, "method_not_allowed", "_none", map[string]string{"Allow": "POST"}},
		{"TRACE", "TRACE", "/open", "", nil, 405, "method_not_allowed", "_none", nil},
		{"a declared body is too large", "POST", "/open", "12345678901", nil, 413, "body_too_large", "/open", nil},
		{"the limit is used up", "GET", "/limited", "", nil, 429, "rate_limited", "/limited", map[string]string{"Retry-After": "3600", "RateLimit-Limit": "1", "RateLimit-Remaining": "0", "RateLimit-Reset": "3600"}},
		{"the upstream resets", "GET", "/slow/reset", "", nil, 502, "upstream_reset", "/slow", map[string]string{"Proxy-Status": "gatehouse; error=connection_terminated"}},
		{"the upstream isn't HTTP", "GET", "/slow/garbage", "", nil, 502, "upstream_bad_response", "/slow", map[string]string{"Proxy-Status": "gatehouse; error=http_protocol_error"}},
		{"the upstream's header is too large", "GET", "/slow/bighead", "", nil, 502, "upstream_bad_response", "/slow", nil},
		{"the upstream doesn't answer", "GET", "/slow/header", "", nil, 504, "upstream_timeout", "/slow", map[string]string{"Proxy-Status": "gatehouse; error=http_response_timeout"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := s.counts.get("rejected " + row.route + " " + row.code)
			requests := s.counts.get("request " + row.route + " " + row.method + " " + itoa(row.status))
			logged := len(s.lines())
			got := s.do(row.method, row.path, row.body, row.headers...)
			if got.StatusCode != row.status || got.code() != row.code {
				t.Errorf("got %d %s, want %d %s\n%s", got.StatusCode, got.code(), row.status, row.code, got.body)
			}
			if ct := got.Header.Get("Content-Type"); ct != "application/problem+json" {
				t.Errorf("Content-Type is %q", ct)
			}
			for name, want := range row.want {
				if v := got.Header.Get(name); v != want {
					t.Errorf("%s is %q, want %q", name, v, want)
				}
			}
			if strings.Contains(got.body, backend.Addr().String()) || strings.Contains(got.body, "net/http") {
				t.Errorf("the answer shows internals: %s", got.body)
			}
			lines := s.lines()[logged:]
			if len(lines) != 1 {
				t.Fatalf("%d access-log lines, want 1: %v", len(lines), lines)
			}
			line := lines[0]
			if line["status"] != float64(row.status) || line["code"] != row.code || line["route"] != row.route || line["trace_id"] != got.Header.Get("X-Request-Id") {
				t.Errorf("log line: %v", line)
			}
			if n := s.counts.get("rejected "+row.route+" "+row.code) - before; n != 1 {
				t.Errorf("counted %d rejects, want 1: %v", n, s.counts)
			}
			if n := s.counts.get("request "+row.route+" "+row.method+" "+itoa(row.status)) - requests; n != 1 {
				t.Errorf("counted %d requests, want 1: %v", n, s.counts)
			}
		})
	}
}

func TestRefusedConnectionIs502(t *testing.T) {
	s := start(t, servertest.Refuses(t), errorConfig)
	got := s.get("/open")
	if got.StatusCode != 502 || got.code() != "upstream_unreachable" || got.Header.Get("Proxy-Status") != "gatehouse; error=connection_refused" {
		t.Errorf("got %d %s %v", got.StatusCode, got.code(), got.Header)
	}
}

// The gateway's refusals carry the CORS headers: a page would otherwise see a
// network error.
func TestRefusalsHaveCORSHeaders(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nX-Request-Id: fake\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	s := start(t, backend.Addr().String(), errorConfig)
	for _, headers := range [][]string{{"Origin: https://app.test"}, {"Origin: https://app.test", bearer(t, map[string]any{"scope": "order"})}} {
		got := s.get("/order", headers...)
		if v := got.Header.Values("Access-Control-Allow-Origin"); len(v) != 1 || v[0] != "https://app.test" {
			t.Errorf("%d: Access-Control-Allow-Origin is %q", got.StatusCode, v)
		}
		if id := got.Header.Values("X-Request-Id"); len(id) != 1 || id[0] == "fake" {
			t.Errorf("X-Request-Id is %q", id)
		}
	}
	preflight := s.do(http.MethodOptions, "/order", "", "Origin: https://app.test", "Access-Control-Request-Method: GET")
	if preflight.StatusCode != http.StatusNoContent || preflight.Header.Get("Access-Control-Allow-Methods") != "GET" {
		t.Errorf("preflight: %d %v", preflight.StatusCode, preflight.Header)
	}
	if len(backend.seen()) != 1 {
		t.Errorf("the backend saw %d requests, want only the authorised one", len(backend.seen()))
	}
}

func itoa(n int) string {
	return string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
}

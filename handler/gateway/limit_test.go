package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"
)

const limitConfig = `
upstreams:
  app: {url: "http://BACKEND", limit: {rate: 3/h, burst: 3}, breaker: {failures: 0}}
  other: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /one, upstream: app, auth: none, limit: {rate: 1/h, burst: 1}}
  - {path: /two, upstream: app, auth: none}
  - {path: /address, upstream: other, auth: none, limit: {rate: 2/h, burst: 2, per: client_ip}}
  - {name: create, path: /orders, methods: [POST], upstream: other, auth: none, limit: {rate: 1/h, burst: 1}}
  - {name: read, path: /orders, methods: [GET], upstream: other, auth: none, limit: {rate: 100/h, burst: 100}}
  - {path: /shop, upstream: other, auth: none, limit: {rate: 1/h, burst: 1}, cors: {allowed_origins: ["https://app.test"], allowed_methods: [GET]}}
  - {path: /bare, upstream: other, auth: none, limit: {rate: 5/s}}
  - {path: /free, upstream: other, auth: none}
`

// A request that one limit refuses takes nothing from the other: the upstream's
// bucket has a place for everyone that got through.
func TestRefusedRequestTakesNoToken(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), limitConfig)
	for i := range 5 {
		got := s.get("/one")
		if want := map[bool]int{true: 200, false: 429}[i == 0]; got.StatusCode != want {
			t.Errorf("request %d: got %d, want %d", i, got.StatusCode, want)
		}
	}
	for i, want := range []int{200, 200, 429} {
		if got := s.get("/two"); got.StatusCode != want {
			t.Errorf("request %d on the other route: got %d, want %d", i, got.StatusCode, want)
		}
	}
	if n := len(backend.seen()); n != 3 {
		t.Errorf("the backend saw %d requests", n)
	}
	for name, want := range map[string]int{"accept /one": 1, "reject /one": 4, "rejected /one rate_limited": 4, "accept /two": 2, "reject /two": 1} {
		if n := s.counts.get(name); n != want {
			t.Errorf("counted %s %d times, want %d", name, n, want)
		}
	}
	lines := s.lines()
	logged(t, lines[1], map[string]any{"limited": "route:/one", "code": "rate_limited"})
	logged(t, lines[7], map[string]any{"limited": "upstream:app"})
}

func TestRateLimitHeaders(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 200 OK\r\nRateLimit-Limit: 9999\r\nRateLimit-Remaining: 9999\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	s := start(t, backend.Addr().String(), limitConfig)
	for _, row := range []struct{ name, path, limit, remaining, reset, retry string }{
		{"on a 200, of the limit that is nearer", "/one", "1", "0", "3600", ""},
		{"on a 429", "/one", "1", "0", "3600", "3600"},
		{"of the upstream's limit alone, which the refusal left as it was", "/two", "3", "1", "2400", ""},
		{"a burst of one second's worth by default", "/bare", "5", "4", "1", ""},
		{"the upstream's own where there is no limit", "/free", "9999", "9999", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := s.get(row.path)
			for name, want := range map[string]string{"RateLimit-Limit": row.limit, "RateLimit-Remaining": row.remaining, "RateLimit-Reset": row.reset, "Retry-After": row.retry} {
				if v := got.Header.Values(name); fmt.Sprint(v) != fmt.Sprint(list(want)) {
					t.Errorf("%s is %q, want %q", name, v, want)
				}
			}
		})
	}
}

func list(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func TestLimitsOfOneMethodLeaveTheOthersAlone(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), limitConfig)
	for i, row := range []struct {
		method string
		status int
	}{{"POST", 200}, {"POST", 429}, {"GET", 200}, {"GET", 200}} {
		if got := s.do(row.method, "/orders", ""); got.StatusCode != row.status {
			t.Errorf("request %d, %s: got %d, want %d", i, row.method, got.StatusCode, row.status)
		}
	}
}

func TestPreflightsAreFree(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), limitConfig)
	for range 10 {
		if got := s.do("OPTIONS", "/shop", "", "Origin: https://app.test", "Access-Control-Request-Method: GET"); got.StatusCode != 204 {
			t.Fatalf("a preflight got %d", got.StatusCode)
		}
	}
	if got := s.get("/shop", "Origin: https://app.test"); got.StatusCode != 200 {
		t.Errorf("the first request got %d", got.StatusCode)
	}
	got := s.get("/shop", "Origin: https://app.test")
	if got.StatusCode != 429 || got.Header.Get("Access-Control-Allow-Origin") != "https://app.test" {
		t.Errorf("the second request got %d %v", got.StatusCode, got.Header)
	}
}

// A made-up X-Forwarded-For is no new bucket, and neither is another
// address in one's own /64.
func TestLimitPerAddress(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	for _, row := range []struct {
		name, server string
		clients      []string
		want         []int
	}{
		{"made-up addresses of an untrusted client", "", []string{"1.1.1.1", "2.2.2.2", "3.3.3.3"}, []int{200, 200, 429}},
		{"clients of a trusted proxy", "server: {trusted_proxies: [127.0.0.1/32]}\n", []string{"1.1.1.1", "2.2.2.2", "1.1.1.1", "1.1.1.1", "2.2.2.2"}, []int{200, 200, 200, 429, 200}},
		{"one IPv6 network", "server: {trusted_proxies: [127.0.0.1/32]}\n", []string{"2001:db8::1", "2001:db8::ffff:2", "2001:db8::3", "2001:db8:0:1::1"}, []int{200, 200, 429, 200}},
		{"IPv4 in IPv6 is IPv4", "server: {trusted_proxies: [127.0.0.1/32]}\n", []string{"1.2.3.4", "::ffff:1.2.3.4", "1.2.3.4", "::ffff:1.2.3.5"}, []int{200, 200, 429, 200}},
		{"what the client wrote before the proxy's entry", "server: {trusted_proxies: [127.0.0.1/32]}\n", []string{"7.7.7.1, 1.1.1.1", "7.7.7.2, 1.1.1.1", "7.7.7.3, 1.1.1.1"}, []int{200, 200, 429}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, backend.Addr().String(), row.server+limitConfig)
			for i, client := range row.clients {
				if got := s.get("/address", "X-Forwarded-For: "+client); got.StatusCode != row.want[i] {
					t.Errorf("request %d of %s: got %d, want %d", i, client, got.StatusCode, row.want[i])
				}
			}
		})
	}
}

// The limit comes before authentication and before the breaker, and a stream
// goes through it unbuffered.
func TestLimitDoesNotBufferAStream(t *testing.T) {
	more := make(chan struct{})
	backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n")
		<-more
	})
	s := start(t, backend.Addr().String(), limitConfig)
	c := s.dial()
	c.send(request("GET /one"))
	c.head()
	c.expect("9\r\ndata: 1\n\n\r\n")
	close(more)
}

func TestASplitRouteHasOneLimit(t *testing.T) {
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), `
server: {trusted_proxies: [127.0.0.0/8]}
upstreams:
  a: {url: "http://BACKEND", breaker: {failures: 0}}
  b: {url: "http://BACKEND", breaker: {failures: 0}}
routes: [{path: /, split: [{upstream: a}, {upstream: b}], auth: none, limit: {rate: 5/h, burst: 5}}]
`)
	passed := 0
	for n := range 40 { // many addresses, so that both upstreams get some
		if got := s.get("/", fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", n)); got.StatusCode == 200 {
			passed++
		}
	}
	if passed != 5 {
		t.Errorf("%d passed, want 5", passed)
	}
}

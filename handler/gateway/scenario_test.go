package gateway_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/server/servertest"
)

const scenarioConfig = `
auth:
  providers: {test: {issuer: test, algorithms: [HS256], secret: SECRET}}
  api_keys: {keys: [{id: eve, sha256: EVE, scopes: [order]}]}
upstreams:
  order: {backends: [{url: "http://ORDER_A"}, {url: "http://ORDER_B"}], retry: {backoff: 1ms}}
  report: {url: "http://BACKEND", timeouts: {response_header: 100ms}}
routes:
  - {name: orders, path: /orders, upstream: order, strip_prefix: true, auth: any, limit: {rate: 1/h, burst: 3}}
  - {name: more, path: /more, upstream: order, strip_prefix: true}
  - {name: reports, path: /reports, upstream: report, scopes: []}
`

// The scenario of a pool that loses a backend, line by line.
func TestScenario(t *testing.T) {
	letter := func(name string) func(string, net.Conn, *bufio.Reader) {
		return says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n" + name)
	}
	mortal, err := servertest.Listen() // others' listeners never get its port
	if err != nil {
		t.Fatal(err)
	}
	a, b := newRawBackend(t, letter("A")), serveRaw(t, mortal, letter("B"))
	hurry := make(chan struct{})
	slow := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		select {
		case <-time.After(400 * time.Millisecond):
			_, _ = io.WriteString(conn, okAnswer)
		case <-hurry:
		}
	})
	t.Cleanup(func() { close(hurry) })
	s := start(t, slow.Addr().String(), strings.NewReplacer("ORDER_A", a.Addr().String(), "ORDER_B", b.Addr().String(),
		"EVE", fmt.Sprintf("%x", sha256.Sum256([]byte("eve's key")))).Replace(scenarioConfig))
	ada := bearer(t, map[string]any{"sub": "ada", "scope": "order"})
	other := bearer(t, map[string]any{"sub": "bob", "scope": "report"})

	is := func(line string, got *answer, status int, code, body string) {
		t.Helper()
		if got.StatusCode != status || got.code() != code || body != "" && got.body != body {
			t.Errorf("%s: got %d %s %q, want %d %s %q", line, got.StatusCode, got.code(), got.body, status, code, body)
		}
	}
	is("no credential", s.get("/more/1"), 401, "credentials_missing", "")
	is("the first", s.get("/orders/1?x=1", ada, "X-User-Id: root"), 200, "", "A")
	if head := a.last(t); !strings.HasPrefix(head, "GET /1?x=1 HTTP/1.1\r\n") || fmt.Sprint(headerLines(head, "X-User-Id")) != "[ada]" {
		t.Errorf("A saw %q", head)
	}
	is("the second, with an API key", s.get("/orders/2", "X-API-Key: eve's key"), 200, "", "B")
	if head := b.last(t); fmt.Sprint(headerLines(head, "X-User-Id")) != "[eve]" || headerLines(head, "X-API-Key") != nil {
		t.Errorf("B saw %q", head)
	}
	is("the third", s.get("/orders/3", ada), 200, "", "A")
	is("the fourth is one too many", s.get("/orders/4", ada), 429, "rate_limited", "")
	is("a caller without the scope", s.get("/more/5", other), 403, "scope_missing", "")
	is("an unknown path", s.get("/order", ada), 404, "no_route", "")

	b.Close()
	for i := range 4 {
		is("GET while B is stopped", s.get("/more/6", ada), 200, "", "A")
		if i == 3 && s.counts.get("retried order connect") == 0 {
			t.Error("no request was tried at B first")
		}
	}
	failed, before := 0, len(a.seen())
	for range 2 {
		switch got := s.do("POST", "/more/7", "once", ada); got.StatusCode {
		case 502:
			failed++
			is("POST that is sent to B", got, 502, "upstream_unreachable", "")
		default:
			is("POST that is sent to A", got, 200, "", "A")
		}
	}
	if failed != 1 || len(a.seen())-before != 1 {
		t.Errorf("of two POSTs %d failed, and A saw %d", failed, len(a.seen())-before)
	}
	is("the slow one", s.get("/reports", other), 504, "upstream_timeout", "")
}

// One of three backends dies under load: no GET notices. All die: the client is
// told, the breaker opens, and it closes again when they are back.
func TestBackendsThatDieUnderLoad(t *testing.T) {
	servers, urls := make([]*mortal, 3), make([]string, 3)
	for i := range servers {
		servers[i] = newMortal(t)
		urls[i] = fmt.Sprintf("{url: \"http://%s\"}", servers[i].address)
	}
	s := start(t, "", "upstreams:\n  app: {backends: ["+strings.Join(urls, ", ")+"], retry: {backoff: 1ms}, "+
		"breaker: {failures: 5, open_for: 300ms}, eject: {failures: 3, for: 100ms}, route: {path: /, auth: none}}\n")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
	defer client.CloseIdleConnections()
	results := make(chan int, 1000)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for i := range 500 {
		<-tick.C
		if i == 150 {
			servers[1].die()
		}
		go func() {
			res, err := client.Get(s.URL)
			if err != nil {
				results <- 0
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			results <- res.StatusCode
		}()
	}
	for range 500 {
		if status := <-results; status != 200 {
			t.Errorf("a GET failed: %d", status)
		}
	}
	if s.counts.get("ejected http://"+servers[1].address) == 0 {
		t.Errorf("the dead backend wasn't ejected: %v", s.counts)
	}

	servers[0].die()
	servers[2].die()
	seen := map[string]int{}
	for range 20 {
		got := s.get("/")
		seen[fmt.Sprintf("%d %s", got.StatusCode, got.code())]++
	}
	if seen["502 upstream_unreachable"] < 1 || seen["503 breaker_open"] < 5 {
		t.Errorf("all are dead: %v", seen)
	}
	for _, server := range servers {
		server.live(t)
	}
	deadline := time.After(5 * time.Second)
	for s.get("/").StatusCode != 200 {
		select {
		case <-deadline:
			t.Fatal("it didn't recover")
		case <-tick.C:
		}
	}
}

// mortal is a backend at one address that can go and come back.
type mortal struct {
	address string
	server  *http.Server
}

func newMortal(t *testing.T) *mortal {
	listener, err := servertest.Listen()
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{address: listener.Addr().String()}
	m.serve(listener)
	t.Cleanup(m.die)
	return m
}

func (m *mortal) live(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", m.address)
	if err != nil {
		t.Fatal(err)
	}
	m.serve(listener)
}

func (m *mortal) serve(listener net.Listener) {
	m.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })}
	go func(s *http.Server) { _ = s.Serve(listener) }(m.server)
}

func (m *mortal) die() { _ = m.server.Close() }

// Also at little traffic, where the budget allows three retries a second, a dead
// backend costs no GET until it is ejected.
func TestADeadBackendCostsNothingAtLittleTraffic(t *testing.T) {
	alive, dead := newRawBackend(t, says(okAnswer)), servertest.Refuses(t)
	s := start(t, alive.Addr().String(), fmt.Sprintf(
		`upstreams: {app: {backends: [{url: "http://BACKEND"}, {url: "http://%s"}], route: {path: /, auth: none}}}`, dead))
	deadline := time.After(10 * time.Second)
	for s.counts.get("ejected http://"+dead) == 0 {
		if got := s.get("/"); got.StatusCode != 200 {
			t.Fatalf("a GET is answered %d %s", got.StatusCode, got.code())
		}
		select {
		case <-deadline:
			t.Fatal("it wasn't ejected")
		default:
		}
	}
	if n := s.counts.get("retried app connect"); n != 5 {
		t.Errorf("%d attempts failed before it was ejected, want 5", n)
	}
}

package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const breakerConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
server: {timeouts: {write_idle: 200ms}}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 5, open_for: 1h}, retry: {attempts: 1}, eject: {failures: 0}}
  brief: {url: "http://BACKEND", breaker: {failures: 1, open_for: 100ms}, retry: {attempts: 1}, eject: {failures: 0}}
routes:
  - {path: /, upstream: app, auth: none, max_body_size: 10}
  - {path: /closed, upstream: app}
  - {path: /limited, upstream: app, auth: none, limit: {rate: 1/h, burst: 1}}
  - {path: /brief, upstream: brief, auth: none, max_body_size: 10}
  - {path: /brief/closed, upstream: brief}
`

// statusBackend answers with the status that the path ends in; a path that ends
// in /hold gets no answer until release is closed.
func statusBackend(t *testing.T) (backend *rawBackend, release chan struct{}, held *atomic.Int32) {
	release, held = make(chan struct{}), new(atomic.Int32)
	return newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
		target := strings.Fields(head)[1]
		status := target[strings.LastIndexByte(target, '/')+1:]
		switch {
		case status == "hold":
			held.Add(1)
			<-release
			status = "200"
		case status == "reset":
			return
		case len(headerLines(head, "Transfer-Encoding")) > 0:
			answersAfterBody(head, conn, in)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 "+status+" Status\r\nX-Backend: 1\r\nRetry-After: 77\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}), release, held
}

// What the gateway answers itself neither counts nor interrupts the run of
// failures; an answer of the upstream that doesn't fail does interrupt it.
func TestRunOfFailures(t *testing.T) {
	for _, row := range []struct {
		name  string
		send  func(s *stand)
		opens bool
	}{
		{"nothing in between", func(*stand) {}, true},
		{"a missing token", func(s *stand) { s.get("/closed/200") }, true},
		{"a declared body that is too large", func(s *stand) { s.do("POST", "/200", "12345678901") }, true},
		{"a streamed body that is too large", func(s *stand) {
			s.raw("POST /200 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n")
		}, true},
		{"a garbled body", func(s *stand) { s.raw("POST /200 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n") }, true},
		{"a used-up limit", func(s *stand) { s.get("/limited/500"); s.get("/limited/200") }, true}, // the first one is a failure
		{"an unsafe path", func(s *stand) { s.get("/%2e%2e/200") }, true},
		{"an unknown route's method", func(s *stand) { s.do("TRACE", "/200", "") }, true},
		{"a success", func(s *stand) { s.get("/200") }, false},
		{"a 404 of the upstream", func(s *stand) { s.get("/404") }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend, _, _ := statusBackend(t)
			s := start(t, backend.Addr().String(), breakerConfig)
			for _, path := range []string{"/500", "/503", "/reset", "/599"} {
				s.get(path)
			}
			if row.send(s); row.name != "a used-up limit" {
				s.get("/500")
			}
			got := s.get("/200")
			if opened := got.code() == "breaker_open"; opened != row.opens {
				t.Errorf("the breaker opened: %v, want %v (%d %s)", opened, row.opens, got.StatusCode, s.counts)
			}
		})
	}
}

func TestOpenBreakerTellsTheClient(t *testing.T) {
	backend, _, _ := statusBackend(t)
	s := start(t, backend.Addr().String(), breakerConfig)
	for range 5 { // a 503 of the upstream passes as it is
		got := s.get("/503")
		if got.StatusCode != 503 || got.Header.Get("X-Backend") != "1" || got.Header.Get("Retry-After") != "77" || got.Header.Get("Proxy-Status") != "" || got.body != "" {
			t.Fatalf("got %d %v %q", got.StatusCode, got.Header, got.body)
		}
	}
	got := s.get("/200")
	if got.StatusCode != 503 || got.code() != "breaker_open" || got.Header.Get("X-Backend") != "" ||
		got.Header.Get("Proxy-Status") != "gatehouse; error=destination_unavailable" {
		t.Errorf("got %d %v %q", got.StatusCode, got.Header, got.body)
	}
	if after := got.Header.Get("Retry-After"); after != "3600" && after != "3599" {
		t.Errorf("Retry-After is %q", after)
	}
	if n := len(backend.seen()); n != 5 {
		t.Errorf("the backend saw %d requests, want 5", n)
	}
	if s.get("/closed/200").StatusCode != 503 {
		t.Error("a route of the same upstream is still open")
	}
	if s.get("/brief/200").StatusCode != 200 {
		t.Error("another upstream is closed too")
	}
	if s.counts.get("refused app") != 2 || s.counts.get("transition app 2") != 1 {
		t.Errorf("counted %v", s.counts)
	}
}

// halfOpen returns a stand whose upstream brief has failed and is half-open.
func halfOpen(t *testing.T, backend *rawBackend) *stand {
	s := start(t, backend.Addr().String(), breakerConfig)
	s.get("/brief/500")
	s.untilHalfOpen(1)
	return s
}

// untilHalfOpen waits until brief, which has opened so many times, lets a trial pass.
func (s *stand) untilHalfOpen(opened int) {
	s.t.Helper()
	if n := s.counts.get("transition brief 2"); n != opened {
		s.t.Fatalf("the breaker opened %d times, want %d: %v", n, opened, s.counts)
	}
	for range 2000 {
		for _, u := range s.gw.Upstreams() {
			if u.Name == "brief" && u.Breaker == "half-open" {
				return
			}
		}
		ticks(5)
	}
	s.t.Fatal("the breaker stays open")
}

// Every way out that says nothing of the upstream gives the trial back (B-04).
func TestTrialIsGivenBack(t *testing.T) {
	for _, row := range []struct {
		name string
		send func(t *testing.T, s *stand, held *atomic.Int32)
		code string
	}{
		{"without a token", func(_ *testing.T, s *stand, _ *atomic.Int32) { s.get("/brief/closed/200") }, "credentials_missing"},
		{"with a body that is too large", func(_ *testing.T, s *stand, _ *atomic.Int32) { s.do("POST", "/brief/200", "12345678901") }, "body_too_large"},
		{"with a body found too large", func(_ *testing.T, s *stand, _ *atomic.Int32) {
			s.raw("POST /brief/200 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n")
		}, "body_too_large"},
		{"with a garbled body", func(_ *testing.T, s *stand, _ *atomic.Int32) {
			s.raw("POST /brief/200 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
		}, "bad_request"},
		{"by a client that leaves", func(t *testing.T, s *stand, held *atomic.Int32) {
			c := s.dial()
			c.send("GET /brief/hold HTTP/1.1\r\nHost: x\r\n\r\n")
			for held.Load() == 0 {
				ticks(1)
			}
			c.Close()
		}, "client_closed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend, release, held := statusBackend(t)
			s := halfOpen(t, backend)
			row.send(t, s, held)
			lines := s.lines() // waits until the request has ended
			logged(t, lines[len(lines)-1], map[string]any{"code": row.code})
			close(release)
			if got := s.get("/brief/200"); got.StatusCode != 200 {
				t.Errorf("the trial is lost: %d %s", got.StatusCode, got.body)
			}
			if s.counts.get("transition brief 0") != 1 {
				t.Errorf("counted %v", s.counts)
			}
		})
	}
}

func TestHalfOpenSendsExactlyOneTrial(t *testing.T) {
	backend, release, held := statusBackend(t)
	s := halfOpen(t, backend)
	before := len(backend.seen())
	answers := make(chan int, 100)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(newRequest(t, "GET", s.URL+"/brief/hold", nil))
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			if res.StatusCode == 503 && res.Header.Get("Retry-After") == "" {
				t.Error("a refusal without Retry-After")
			}
			answers <- res.StatusCode
		})
	}
	for range 99 {
		if status := wait(t, answers, "a refusal"); status != 503 {
			t.Errorf("got %d before the trial ended", status)
		}
	}
	if n := held.Load(); n != 1 {
		t.Errorf("%d trials reached the backend", n)
	}
	close(release)
	if status := wait(t, answers, "the trial"); status != 200 {
		t.Errorf("the trial got %d", status)
	}
	wg.Wait()
	if n := len(backend.seen()) - before; n != 1 {
		t.Errorf("the backend saw %d requests, want 1", n)
	}
	if got := s.get("/brief/200"); got.StatusCode != 200 {
		t.Errorf("after the trial: %d", got.StatusCode)
	}
}

// A trial that fails opens the breaker again, and a trial is judged at the
// answer's header: a long stream doesn't hold the breaker half-open.
func TestTrials(t *testing.T) {
	more := make(chan struct{})
	defer close(more)
	backend := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		switch {
		case strings.Contains(head, "/stream"):
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
			<-more
		case strings.Contains(head, "/200"):
			_, _ = io.WriteString(conn, okAnswer)
		}
	})
	s := halfOpen(t, backend)
	if got := s.get("/brief/reset"); got.code() != "upstream_reset" {
		t.Errorf("the failing trial got %d %s", got.StatusCode, got.body)
	}
	s.untilHalfOpen(2)
	c := s.dial()
	c.send("GET /brief/stream HTTP/1.1\r\nHost: x\r\n\r\n")
	c.head()
	if got := s.get("/brief/200"); got.StatusCode != 200 {
		t.Errorf("while the trial streams: %d %s", got.StatusCode, got.body)
	}
	c.Close()
}

// A call that began before the breaker opened and fails after it closed again
// says nothing about now (B-07).
func TestLateFailureIsIgnored(t *testing.T) {
	fail := make(chan struct{})
	arrived := make(chan struct{})
	backend := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		switch {
		case strings.Contains(head, "/late"):
			close(arrived)
			<-fail
		case strings.Contains(head, "/200"):
			_, _ = io.WriteString(conn, okAnswer)
		}
	})
	s := start(t, backend.Addr().String(), breakerConfig)
	late := s.dial()
	late.send("GET /brief/late HTTP/1.1\r\nHost: x\r\n\r\n")
	wait(t, arrived, "the late call at the backend")
	s.get("/brief/reset")
	s.untilHalfOpen(1)
	if got := s.get("/brief/200"); got.StatusCode != 200 {
		t.Fatalf("the trial got %d", got.StatusCode)
	}
	close(fail)
	if got := late.answer("GET"); got.code() != "upstream_reset" {
		t.Errorf("the late call got %d", got.StatusCode)
	}
	if got := s.get("/brief/200"); got.StatusCode != 200 {
		t.Errorf("the late failure opened the breaker: %d", got.StatusCode)
	}
}

package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/server/servertest"
)

const retryConfig = `
upstreams:
  alone: {url: "http://FAULTY", retry: {attempts: 1}, breaker: {failures: 1, open_for: 1h}, eject: {failures: 1, max_percent: 100}, TIMEOUTS}
  pair: {backends: [{url: "http://FAULTY"}, {url: "http://BACKEND"}], retry: {on: [connect, reset, timeout, 503], backoff: 1ms}, TIMEOUTS}
routes:
  - {path: /alone, upstream: alone, auth: none, flush: always}
  - {path: /pair, upstream: pair, auth: none, flush: always}
`

// What a fault of a backend means to the client, the log, the breaker and the
// backend's health; and that a second backend hides it where that may be.
func TestFaults(t *testing.T) {
	refusing := servertest.Refuses(t)
	const cut = -1 // the client's connection ends within the answer
	for _, row := range []struct {
		name        string
		fault       func(head string, conn net.Conn, in *bufio.Reader) // nil: it refuses connections
		status      int
		code        string
		logged      int
		fails       bool // to the breaker and to the backend's health
		get, post   int  // what a pair with this backend answers
		getAttempts int
	}{
		{"it refuses connections", nil, 502, "upstream_unreachable", 502, true, 200, 502, 2},
		{"it hangs", func(_ string, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) }, 504, "upstream_timeout", 504, true, 200, 504, 2},
		{"it resets once it has the request", func(_ string, conn net.Conn, _ *bufio.Reader) { _ = conn.(*net.TCPConn).SetLinger(0) }, 502, "upstream_reset", 502, true, 200, 502, 2},
		{"it closes within the header", says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), 502, "upstream_reset", 502, true, 200, 502, 2},
		{"it cuts the body", says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), cut, "upstream_reset", 200, false, cut, cut, 1},
		{"it answers garbage", says("SSH-2.0-OpenSSH_9.9\r\n\r\n"), 502, "upstream_bad_response", 502, true, 502, 502, 1},
		{"it drips without end", drip, cut, "upstream_timeout", 200, false, cut, cut, 1},
		{"it answers a status that is retried", says("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy"), 503, "", 503, true, 200, 503, 2},
		{"it answers a status that isn't", says("HTTP/1.1 500 Oh\r\nContent-Length: 2\r\nConnection: close\r\n\r\noh"), 500, "", 500, true, 500, 500, 1},
		{"it answers 404", says("HTTP/1.1 404 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"), 404, "", 404, false, 404, 404, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			faulty := refusing
			if row.fault != nil {
				faulty = newRawBackend(t, row.fault).Addr().String()
			}
			good := newRawBackend(t, says(okAnswer))
			config := strings.NewReplacer("FAULTY", faulty, "TIMEOUTS", "timeouts: {response_header: 400ms, request: 1500ms}").Replace(retryConfig)
			s := start(t, good.Addr().String(), config)
			if got := s.status("GET", "/alone"); got != row.status {
				t.Errorf("alone it's answered %d, want %d", got, row.status)
			}
			want := map[string]any{"status": row.logged, "attempts": 1, "backend": "http://" + faulty}
			if row.code != "" {
				want["code"] = row.code
			}
			logged(t, s.only(), want)
			if ejected := s.counts.get("ejected http://"+faulty) == 1; ejected != row.fails {
				t.Errorf("ejected: %v", ejected)
			}
			if open := s.counts.get("transition alone 2") == 1; open != row.fails {
				t.Errorf("the breaker opened: %v, counts %v", open, s.counts)
			}
			if got := s.status("GET", "/pair"); got != row.get {
				t.Errorf("GET of a pair is answered %d, want %d", got, row.get)
			}
			if got := s.attempts(); got != row.getAttempts {
				t.Errorf("GET took %d attempts, want %d", got, row.getAttempts)
			}
			if row.getAttempts == 2 { // the next in turn is the good one
				if got := s.status("POST", "/pair"); got != 200 {
					t.Errorf("the good backend answers POST %d", got)
				}
			} else {
				s.status("GET", "/pair")
			}
			if got := s.status("POST", "/pair"); got != row.post {
				t.Errorf("POST of a pair is answered %d, want %d", got, row.post)
			}
			if got := s.attempts(); got != 1 {
				t.Errorf("POST took %d attempts", got)
			}
		})
	}
}

// drip sends a byte now and then, so that it is never idle.
func drip(_ string, conn net.Conn, in *bufio.Reader) {
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	left := make(chan struct{})
	go func() { defer close(left); _, _ = io.Copy(io.Discard, in) }()
	tick := time.NewTicker(70 * time.Millisecond) // so that the limits don't end at the moment of a write
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, _ = io.WriteString(conn, ".")
		case <-left:
			return
		}
	}
}

// status is the status of an answer, -1 when it is cut.
func (s *stand) status(method, path string) int {
	s.t.Helper()
	r := newRequest(s.t, method, s.URL+path, nil)
	if method == "POST" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("hello")), 5
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil {
		return -1
	}
	return res.StatusCode
}

// attempts is how many the last request took.
func (s *stand) attempts() int {
	s.t.Helper()
	lines := s.lines()
	return int(lines[len(lines)-1]["attempts"].(float64))
}

// A retried request is the same request: the whole body, the identity and the
// path; and the answer that nobody sees leaves nothing behind.
func TestARetryIsTheSameRequest(t *testing.T) {
	type received struct{ head, body string }
	seen := make(chan received, 10)
	answer := func(text string) func(string, net.Conn, *bufio.Reader) {
		return func(head string, conn net.Conn, in *bufio.Reader) {
			body := make([]byte, 60<<10)
			if strings.HasPrefix(head, "PUT ") {
				_, _ = io.ReadFull(in, body)
			}
			seen <- received{head, string(body)}
			_, _ = io.WriteString(conn, text)
		}
	}
	busy := newRawBackend(t, answer("HTTP/1.1 503 Busy\r\nSet-Cookie: busy=1\r\nX-Busy: 1\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy"))
	good := newRawBackend(t, answer(okAnswer))
	s := start(t, good.Addr().String(), strings.Replace(`
auth: {providers: {test: {issuer: test, algorithms: [HS256], secret: SECRET}}}
upstreams:
  app: {backends: [{url: "http://BUSY"}, {url: "http://BACKEND"}], retry: {backoff: 1ms}, route: {path: /api, strip_prefix: true}}
`, "BUSY", busy.Addr().String(), 1))
	body := strings.Repeat("0123456789abcde\n", 60<<10/16)
	got := s.do("PUT", "/api/a%20b?x=%20&y", body, bearer(t, map[string]any{"sub": "ada", "scope": "app"}), "X_User-Id: root", "Connection: X-User-Id")
	if got.StatusCode != 200 || got.body != "ok" || got.Header.Get("X-Busy") != "" || got.Header.Get("Set-Cookie") != "" {
		t.Fatalf("got %d %v %q", got.StatusCode, got.Header, got.body)
	}
	first, second := <-seen, <-seen
	if first.body != body || second.body != body {
		t.Error("an attempt had another body")
	}
	plain := func(r received, b *rawBackend) string {
		var lines []string
		for line := range strings.Lines(strings.ReplaceAll(r.head, b.Addr().String(), "backend")) {
			if !strings.HasPrefix(line, "Traceparent:") { // a span of its own each
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	if plain(first, busy) != plain(second, good) || !strings.HasPrefix(second.head, "PUT /a%20b?x=%20&y HTTP/1.1\r\n") ||
		fmt.Sprint(headerLines(second.head, "X-User-Id")) != "[ada]" || strings.Contains(second.head, "root") {
		t.Errorf("the attempts differ:\n%s\n%s", first.head, second.head)
	}
	if s.counts.get("spoof") != 1 || s.counts.get("retried app 503") != 1 || s.counts.get("transition app 2") != 0 {
		t.Errorf("counted %v", s.counts)
	}
	logged(t, s.only(), map[string]any{"status": 200, "attempts": 2, "backend": "http://" + good.Addr().String(), "bytes_in": len(body)})
}

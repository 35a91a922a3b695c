package gateway_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

const stallConfig = `
server: {timeouts: {write_idle: 200ms}}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 1}, timeouts: {request: 5s, idle: 300ms}}
  brief: {url: "http://BACKEND", breaker: {failures: 0}, timeouts: {request: 200ms, idle: 5s}}
  strict: {url: "http://BACKEND", breaker: {failures: 1, open_for: 1h}, timeouts: {request: 200ms}}
routes:
  - {path: /, upstream: app, auth: none}
  - {path: /brief, upstream: brief, auth: none}
  - {path: /strict, upstream: strict, auth: none}
`

// A client that takes nothing is cut after the write-idle time, and the
// upstream isn't blamed for it.
func TestClientThatTakesNothingIsCut(t *testing.T) {
	ended := make(chan error, 1)
	backend := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		if !strings.Contains(head, " /endless ") {
			_, _ = io.WriteString(conn, okAnswer)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
		_, err := io.Copy(conn, repeating(make([]byte, 32<<10)))
		ended <- err
	})
	s := start(t, backend.Addr().String(), stallConfig)
	c := s.dial()
	c.send("GET /endless HTTP/1.1\r\nHost: gw.test\r\n\r\n")
	wait(t, ended, "the end of the call to the backend")
	line := s.only()
	logged(t, line, map[string]any{"status": 200, "code": "client_closed"})
	if got := s.get("/"); got.StatusCode != 200 {
		t.Errorf("the breaker judged the client: %d", got.StatusCode)
	}
	if s.counts.get("panic") != 0 {
		t.Error("it was counted as a panic")
	}
}

// A body that stops coming is the client's fault, whichever limit finds it.
func TestSlowBodyIs400(t *testing.T) {
	backend := newRawBackend(t, answersAfterBody)
	s := start(t, backend.Addr().String(), stallConfig)
	for _, path := range []string{"/", "/strict"} {
		c := s.dial()
		c.send("POST " + path + " HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 10\r\n\r\nhalf")
		if got := c.answer("POST"); got.StatusCode != 400 || got.code() != "bad_request" {
			t.Errorf("got %d %s", got.StatusCode, got.body)
		}
		if _, err := c.in.ReadByte(); err != io.EOF {
			t.Errorf("the connection isn't closed: %v", err)
		}
		if got := s.get(path); got.StatusCode != 200 {
			t.Errorf("the breaker judged the client: %d", got.StatusCode)
		}
	}
	logged(t, s.lines()[0], map[string]any{"status": 400, "code": "bad_request", "bytes_in": 4})
}

func TestRequestTimeoutIs504(t *testing.T) {
	backend := newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
		_, _ = io.Copy(io.Discard, in)
		_ = conn
	})
	s := start(t, backend.Addr().String(), stallConfig)
	for _, path := range []string{"/brief", "/", "/strict"} { // the request's time, the idle time, the request's again
		got := s.get(path)
		if got.StatusCode != 504 || got.code() != "upstream_timeout" || got.Header.Get("Proxy-Status") != "gatehouse; error=http_response_timeout" {
			t.Errorf("%s: got %d %s", path, got.StatusCode, got.body)
		}
	}
	if got := s.get("/strict"); got.code() != "breaker_open" {
		t.Errorf("a timeout is no failure: %d", got.StatusCode)
	}
}

// An answer that stops coming after its header went out ends the client's
// connection; its status stays.
func TestAnswerThatStopsIsCut(t *testing.T) {
	for _, framing := range []string{"Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"} {
		backend := newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+framing)
			_, _ = io.Copy(io.Discard, in)
		})
		s := start(t, backend.Addr().String(), stallConfig)
		for _, path := range []string{"/", "/brief"} {
			before := len(s.lines())
			c := s.dial()
			c.send("GET " + path + " HTTP/1.1\r\nHost: gw.test\r\n\r\n")
			text, _ := io.ReadAll(c.in)
			if strings.HasSuffix(string(text), "0\r\n\r\n") {
				t.Errorf("half an answer looks whole: %q", text)
			}
			logged(t, s.lines()[before], map[string]any{"status": 200, "code": "upstream_timeout"})
		}
		if s.counts.get("panic") != 0 || strings.Contains(s.log.String(), "stack") {
			t.Error("it was logged or counted as a panic")
		}
	}
}

// The end of an answer may come later than the client has to take a byte.
func TestLateEndOfAnAnswer(t *testing.T) {
	end := make(chan struct{})
	backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\na\r\n")
		<-end
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	})
	s := start(t, backend.Addr().String(), "server: {timeouts: {write_idle: 100ms}}\n"+openConfig)
	c := s.dial()
	c.send(request("GET /"))
	c.head()
	c.expect("1\r\na\r\n")
	ticks(150)
	close(end)
	c.expect("0\r\n\r\n")
}

// Slow isn't idle: each byte gives both sides the whole time again.
func TestSlowAnswerIsNotIdle(t *testing.T) {
	next := make(chan struct{})
	backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
		for range next {
			_, _ = io.WriteString(conn, "1\r\na\r\n")
		}
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	})
	// The pauses add up to more than the idle time, and each is far below it, also on a busy machine.
	s := start(t, backend.Addr().String(), strings.Replace(stallConfig, "idle: 300ms", "idle: 1200ms", 1))
	c := s.dial()
	c.send(request("GET /"))
	c.head()
	for range 5 {
		ticks(300)
		next <- struct{}{}
		c.expect("1\r\na\r\n")
	}
	ticks(300)
	close(next)
	c.expect("0\r\n\r\n")
	logged(t, s.only(), map[string]any{"status": 200, "code": "", "bytes_out": 5})
}

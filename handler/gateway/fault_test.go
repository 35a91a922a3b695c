package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// An upstream that dies in the middle of its answer ends the client's transfer,
// so that half an answer can't pass for whole.
func TestUpstreamThatDiesMidAnswer(t *testing.T) {
	for _, row := range []struct {
		name, answer string
		reset        bool
	}{
		{"of a known length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", false},
		{"of a known length, with a reset", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", true},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", false},
		{"within a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			sent := make(chan struct{})
			backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
				_, _ = io.WriteString(conn, row.answer)
				<-sent
				if row.reset {
					_ = conn.(*net.TCPConn).SetLinger(0)
				}
			})
			s := start(t, backend.Addr().String(), strings.Replace(openConfig, "auth: none", "auth: none, flush: always", 1))
			res, err := http.DefaultTransport.RoundTrip(newRequest(t, "GET", s.URL+"/", nil))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			close(sent)
			if body, err := io.ReadAll(res.Body); err == nil {
				t.Errorf("the client took %q for a whole answer", body)
			}
			logged(t, s.only(), map[string]any{"status": 200, "code": "upstream_reset"})
			if s.counts.get("panic") != 0 || strings.Contains(s.log.String(), "goroutine ") {
				t.Errorf("it was logged or counted as a panic:\n%s", s.log)
			}
		})
	}
}

// A client that leaves ends the call to the backend, and nobody is blamed.
func TestClientThatLeavesIs499(t *testing.T) {
	arrived, ended := make(chan struct{}, 1), make(chan struct{}, 20)
	backend := newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
		if strings.Contains(head, " /ok ") {
			_, _ = io.WriteString(conn, okAnswer)
			return
		}
		arrived <- struct{}{}
		_, _ = io.Copy(io.Discard, in) // until the gateway ends the call
		ended <- struct{}{}
	})
	s := start(t, backend.Addr().String(), strings.Replace(openConfig, "failures: 0", "failures: 1", 1))
	for range 20 {
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n")
		wait(t, arrived, "the request at the backend")
		c.Close()
		wait(t, ended, "the end of the call")
	}
	for _, line := range s.lines() {
		logged(t, line, map[string]any{"status": 499, "code": "client_closed", "bytes_out": 0})
	}
	if n := s.counts.get("request / GET 499"); n != 20 {
		t.Errorf("counted %d: %v", n, s.counts)
	}
	if got := s.get("/ok"); got.StatusCode != 200 {
		t.Errorf("the breaker judged the clients: %d", got.StatusCode)
	}
}

// A client that closes only its sending half is taken for gone, as net/http
// does; it must not be told that all went well.
func TestClientThatHalfClosesGetsNoAnswer(t *testing.T) {
	arrived := make(chan struct{})
	backend := newRawBackend(t, func(_ string, _ net.Conn, in *bufio.Reader) {
		close(arrived)
		_, _ = io.Copy(io.Discard, in)
	})
	s := start(t, backend.Addr().String(), openConfig)
	c := s.dial()
	c.send("GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n")
	wait(t, arrived, "the request at the backend")
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	if text, _ := io.ReadAll(c.in); len(text) > 0 {
		t.Errorf("the client got %q", text)
	}
	logged(t, s.only(), map[string]any{"status": 499, "code": "client_closed"})
}

// A client that leaves in the middle of an answer is told apart from an
// upstream that breaks it off.
func TestClientThatLeavesMidAnswer(t *testing.T) {
	ended := make(chan struct{})
	backend := newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
		_, _ = io.Copy(io.Discard, in)
		close(ended)
	})
	s := start(t, backend.Addr().String(), openConfig)
	c := s.dial()
	c.send("GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n")
	c.head()
	c.Close()
	wait(t, ended, "the end of the call")
	logged(t, s.only(), map[string]any{"status": 200, "code": "client_closed"})
}

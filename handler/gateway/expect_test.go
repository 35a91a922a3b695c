package gateway_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

const expectContinue = "POST / HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"

// The client gets one 100 when the backend wants the body, and sends it then.
func TestExpectContinue(t *testing.T) {
	bodies := make(chan string, 1)
	backend := newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
		body := make([]byte, 4)
		_, _ = io.ReadFull(in, body)
		bodies <- string(body)
		_, _ = io.WriteString(conn, okAnswer)
	})
	s := start(t, backend.Addr().String(), openConfig)
	c := s.dial()
	c.send(expectContinue)
	c.expect("HTTP/1.1 100 Continue\r\n\r\n")
	c.send("body")
	if got := wait(t, bodies, "the body"); got != "body" {
		t.Errorf("the backend read %q", got)
	}
	if head := c.head(); !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") {
		t.Errorf("the client got %q", head)
	}
	logged(t, s.only(), map[string]any{"status": 200, "bytes_in": 4, "bytes_out": 2})
}

// A refusal comes without a 100, so the body is never sent.
func TestExpectContinueRefused(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	for _, row := range []struct{ name, yaml, status string }{
		{"by the backend", openConfig, "403"},
		{"by the gateway", strings.Replace(openConfig, "auth: none", "auth: none, methods: [GET]", 1), "405"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, backend.Addr().String(), row.yaml)
			if text := s.raw(expectContinue); !strings.HasPrefix(text, "HTTP/1.1 "+row.status+" ") {
				t.Errorf("got %q", text)
			}
		})
	}
}

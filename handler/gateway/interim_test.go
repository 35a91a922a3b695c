package gateway_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

const corsConfig = `
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /, upstream: app, auth: none, cors: {allowed_origins: ["https://app.test"], allowed_methods: [GET]}}
`

// An informational answer goes through, without the headers of the upstream's
// connection, and takes nothing away from the final one.
func TestInformationalAnswers(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-Request-Id: fake\r\n"+
		"Access-Control-Allow-Origin: *\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b.css>\r\n\r\n"+okAnswer))
	s := start(t, backend.Addr().String(), corsConfig)
	c := s.dial()
	c.send(request("GET /", "Origin: https://app.test"))
	c.expect("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
	c.expect("HTTP/1.1 103 Early Hints\r\nLink: </b.css>\r\n\r\n")
	head := c.head()
	if !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") {
		t.Fatalf("the final answer is %q", head)
	}
	for name, want := range map[string]string{"Link": "", "X-Hop": "", "Access-Control-Allow-Origin": "https://app.test", "Content-Length": "2"} {
		if got := strings.Join(headerLines(head, name), "|"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if ids := headerLines(head, "X-Request-Id"); len(ids) != 1 || len(ids[0]) != 32 {
		t.Errorf("X-Request-Id is %q", ids)
	}
	c.expect("ok")
	logged(t, s.only(), map[string]any{"status": 200, "bytes_out": 2})
}

// HTTP/1.0 has no informational answers: its client would take one for the final one.
func TestNoInformationalAnswerToHTTP10(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"+okAnswer))
	s := start(t, backend.Addr().String(), corsConfig)
	if text := s.raw("GET / HTTP/1.0\r\n\r\n"); !strings.HasPrefix(text, "HTTP/1.0 200 OK\r\n") || strings.Contains(text, "103") {
		t.Errorf("got %q", text)
	}
}

// After an answer without a body the next request on the same connection gets
// its own answer, whatever the backend sent along. (A backend that sends a body
// where none may be also closes its connection here: net/http's transport sees
// stray bytes on a kept one only if they come before the next request does.)
func TestAnswersWithoutABodyLeaveTheConnectionClean(t *testing.T) {
	for _, row := range []struct{ name, method, answer, status, length string }{
		{"HEAD with a length", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "200", "1000"},
		{"HEAD with a body all the same", "HEAD", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nevil", "200", "4"},
		{"HEAD with chunks", "HEAD", "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n", "200", ""},
		{"204 with a body", "GET", "HTTP/1.1 204 No Content\r\nConnection: close\r\nContent-Length: 4\r\n\r\nevil", "204", ""},
		{"304 with a length", "GET", "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n", "304", ""},
		{"304 with a body", "GET", "HTTP/1.1 304 Not Modified\r\nConnection: close\r\nContent-Length: 4\r\n\r\nevil", "304", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
				if strings.Contains(head, " /next ") {
					_, _ = io.WriteString(conn, okAnswer)
					return
				}
				_, _ = io.WriteString(conn, row.answer)
				if head, err := readHead(in); err == nil && strings.Contains(head, " /next ") { // on the same connection
					_, _ = io.WriteString(conn, okAnswer)
				}
			})
			s := start(t, backend.Addr().String(), openConfig)
			c := s.dial()
			c.send(row.method + " / HTTP/1.1\r\nHost: gw.test\r\n\r\n")
			head := c.head()
			if !strings.HasPrefix(head, "HTTP/1.1 "+row.status+" ") {
				t.Fatalf("got %q", head)
			}
			if got := strings.Join(headerLines(head, "Content-Length"), "|"); got != row.length {
				t.Errorf("Content-Length is %q, want %q in %q", got, row.length, head)
			}
			c.send("GET /next HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\n\r\n")
			if next := c.head(); !strings.HasPrefix(next, "HTTP/1.1 200 OK\r\n") {
				t.Fatalf("the next request got %q", next)
			}
			c.expect("ok")
			logged(t, s.lines()[0], map[string]any{"bytes_out": 0})
		})
	}
}

func TestRefusalOfHEADHasNoBody(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), strings.Replace(openConfig, "path: /,", "path: /only,", 1))
	c := s.dial()
	c.send("HEAD / HTTP/1.1\r\nHost: gw.test\r\n\r\n")
	if head := c.head(); !strings.HasPrefix(head, "HTTP/1.1 404 ") || len(headerLines(head, "Content-Length")) != 1 {
		t.Fatalf("got %q", head)
	}
	c.send("GET /only HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\n\r\n")
	if next := c.head(); !strings.HasPrefix(next, "HTTP/1.1 200 OK\r\n") {
		t.Fatalf("the next request got %q", next)
	}
	logged(t, s.lines()[0], map[string]any{"status": 404, "bytes_out": 0})
}

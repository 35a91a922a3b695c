package gateway_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

const upload = "POST / HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"

// A chunked body reaches the backend piece by piece, and an answer reaches the
// client while its body is still on the way.
func TestBothDirectionsStream(t *testing.T) {
	backend := newRawBackend(t, echoesChunks)
	s := start(t, backend.Addr().String(), openConfig)
	c := s.dial()
	c.send(strings.Replace(upload, "Host", "Connection: close\r\nHost", 1))
	if head := c.head(); !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") {
		t.Fatalf("got %q", head)
	}
	c.expect("1\r\na\r\n")
	c.send("2\r\nbc\r\n")
	c.expect("2\r\nbc\r\n")
	c.send("0\r\n\r\n")
	c.expect("0\r\n\r\n")
	if te := headerLines(backend.last(t), "Transfer-Encoding"); strings.Join(te, "|") != "chunked" {
		t.Errorf("the backend got Transfer-Encoding %q", te)
	}
	logged(t, s.only(), map[string]any{"status": 200, "bytes_in": 3, "bytes_out": 3, "code": ""})
}

// echoesChunks answers with the body's own chunks, each as it comes.
func echoesChunks(_ string, conn net.Conn, in *bufio.Reader) {
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
	for {
		size, err := in.ReadString('\n')
		if err != nil {
			return
		}
		piece, _ := in.ReadString('\n')
		_, _ = io.WriteString(conn, size+piece)
		if size == "0\r\n" {
			return
		}
	}
}

// A body that goes wrong after the answer has begun ends that, and the log doesn't lay it at the upstream's door.
func TestABodyThatFailsEndsTheAnswer(t *testing.T) {
	backend := newRawBackend(t, echoesChunks)
	for code, rest := range map[string]string{
		"body_too_large": "5\r\nbcdef\r\n",
		"bad_request":    "garbage\r\n",
	} {
		s := start(t, backend.Addr().String(), strings.Replace(openConfig, "auth: none", "auth: none, max_body_size: 5", 1))
		c := s.dial()
		c.send(upload)
		c.head()
		c.expect("1\r\na\r\n")
		c.send(rest)
		logged(t, s.only(), map[string]any{"status": 200, "code": code})
		_ = c.Conn.(*net.TCPConn).CloseWrite() // or net/http waits for the rest of the body for a while
		if more, _ := io.ReadAll(c.in); strings.Contains(string(more), "0\r\n\r\n") {
			t.Errorf("%s: the answer passes for whole: %q", code, more)
		}
	}
}

// A body that was read to its end leaves the connection for the next request,
// and so does a short one that nobody read.
func TestBodiesLeaveTheConnectionOpen(t *testing.T) {
	backend := newRawBackend(t, answersAfterBody)
	s := start(t, backend.Addr().String(), strings.Replace(framingConfig, "200ms", "5s", 1))
	c := s.dial()
	for _, row := range []struct {
		target, body string
		status       int
	}{
		{"/", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 200},
		{"/", "Content-Length: 2\r\n\r\nab", 200},
		{"/", "Content-Length: 0\r\n\r\n", 200},
		{"/", "Content-Length: 100000\r\n\r\n" + strings.Repeat("a", 100000), 200},
		{"/%2e", "Content-Length: 2\r\n\r\nab", 400},
		{"/%2e", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 400},
		{"/", "Content-Length: 2\r\n\r\nab", 200},
	} {
		c.send("POST " + row.target + " HTTP/1.1\r\nHost: gw.test\r\n" + row.body)
		if got := c.answer("POST"); got.StatusCode != row.status || got.Close {
			t.Fatalf("%s %.40q: got %d %v", row.target, row.body, got.StatusCode, got.Header)
		}
	}
}

// An answer that needs no body comes at once, and a client that never sends the
// rest can't keep the connection.
func TestEarlyAnswersDoNotWaitForTheBody(t *testing.T) {
	ends := make(chan string, 1)
	backend := newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
		body, _ := io.ReadAll(in)
		ends <- string(body)
	})
	const yaml = "server: {timeouts: {write_idle: 200ms}}\n"
	for _, row := range []struct{ name, yaml, status string }{
		{"of the backend", yaml + openConfig, "403"},
		{"of the gateway", yaml + strings.Replace(openConfig, "auth: none", "auth: none, methods: [GET]", 1), "405"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, backend.Addr().String(), row.yaml)
			c := s.dial()
			c.send(upload)
			if got := c.answer("POST"); !strings.HasPrefix(got.Status, row.status) {
				t.Fatalf("got %s", got.Status)
			}
			if _, err := c.in.ReadByte(); err != io.EOF {
				t.Errorf("the connection isn't closed: %v", err)
			}
			if row.status == "403" {
				if body := wait(t, ends, "the end at the backend"); strings.Contains(body, "0\r\n\r\n") {
					t.Errorf("half a body looked whole to the backend: %q", body)
				}
			}
		})
	}
}

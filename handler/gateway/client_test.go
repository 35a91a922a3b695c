package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// openConfig is one open route to one upstream, with the breaker off.
const openConfig = `
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /, upstream: app, auth: none}
`

// client is one connection to the gateway, for what net/http's client can't send.
type client struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func (s *stand) dial() *client {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return &client{s.t, conn, bufio.NewReader(conn)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatalf("sending: %v", err)
	}
}

// expect reads the next bytes from the gateway, which must be want.
func (c *client) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c.in, got)
	if string(got[:n]) != want {
		c.t.Fatalf("the client got %q (%v), want %q", got[:n], err, want)
	}
}

// head reads a status line and a header as they come over the wire.
func (c *client) head() string {
	c.t.Helper()
	text, err := readHead(c.in)
	if err != nil {
		c.t.Fatalf("reading the answer's header: %v after %q", err, text)
	}
	return text
}

// answer reads one whole answer to a request of the method.
func (c *client) answer(method string) *answer {
	c.t.Helper()
	res, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("reading the answer: %v", err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatalf("reading the answer's body: %v", err)
	}
	return &answer{res, string(body)}
}

func readHead(in *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		line, err := in.ReadString('\n')
		head.WriteString(line)
		if err != nil || line == "\r\n" {
			return head.String(), err
		}
	}
}

// wait receives from c, or fails the test after ten seconds.
func wait[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(10 * time.Second):
		t.Fatalf("waited too long for: %s", what)
		panic("unreachable")
	}
}

// request is a raw request without a body, on a connection of its own.
func request(line string, headers ...string) string {
	all := append([]string{line + " HTTP/1.1", "Host: gw.test"}, headers...)
	return strings.Join(append(all, "Connection: close"), "\r\n") + "\r\n\r\n"
}

// only checks that a log has one line, and returns it.
func (s *stand) only() map[string]any {
	s.t.Helper()
	lines := s.lines()
	if len(lines) != 1 {
		s.t.Fatalf("%d access-log lines, want 1: %v", len(lines), lines)
	}
	return lines[0]
}

// logged checks fields of a log line.
func logged(t *testing.T, line map[string]any, want map[string]any) {
	t.Helper()
	for field, v := range want {
		if n, ok := v.(int); ok {
			v = float64(n)
		}
		if line[field] != v {
			t.Errorf("the log has %s = %v, want %v in %v", field, line[field], v, line)
		}
	}
}

// newBodyBackend answers 200 and hands over each request's chunked body as it
// came over the wire, trailers included.
func newBodyBackend(t *testing.T) (*rawBackend, <-chan string) {
	bodies := make(chan string, 16)
	return newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
		var body strings.Builder
		for last := false; !last; {
			line, err := in.ReadString('\n')
			body.WriteString(line)
			if err != nil {
				break
			}
			if strings.HasPrefix(line, "0") {
				trailer, _ := readHead(in)
				body.WriteString(trailer)
				last = true
			}
		}
		bodies <- body.String()
		_, _ = io.WriteString(conn, okAnswer)
	}), bodies
}

// ticks lets real time pass where a limit of the transport or the kernel is
// what is tested: synctest can't fake a socket's deadline.
func ticks(milliseconds int) { <-time.After(time.Duration(milliseconds) * time.Millisecond) }

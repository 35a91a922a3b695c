package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves o on a free port and ends it with the test.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// say sends text over a new connection and returns everything that comes back until the server closes it.
func say(t *testing.T, s *Server, text string) string {
	t.Helper()
	conn, err := net.Dial(s.Socket().Addr().Network(), s.Socket().Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("reading the answer: %v", err)
	}
	return string(answer)
}

func echoTarget(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, r.Method+" "+r.RequestURI)
}

func TestRequests(t *testing.T) {
	const closing = "Host: x\r\nConnection: close\r\n\r\n"
	tests := []struct{ name, send, status, body string }{
		{"an ordinary request reaches the handler", "GET /a HTTP/1.1\r\n" + closing, "200", "GET /a"},
		{"OPTIONS * reaches the handler, too", "OPTIONS * HTTP/1.1\r\n" + closing, "200", "OPTIONS *"},
		{"a header under the limit is taken", "GET /a HTTP/1.1\r\nX: " + strings.Repeat("x", 8<<10) + "\r\n" + closing, "200", "GET /a"},
		{"a header over the limit is a 431", "GET /a HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n" + closing, "431", ""},
		{"garbage is a 400", "\x00\x01\x02 what\r\n\r\n", "400", ""},
	}
	s := start(t, Options{Handler: http.HandlerFunc(echoTarget), MaxHeader: 16 << 10})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer := say(t, s, test.send)
			if !strings.HasPrefix(answer, "HTTP/1.1 "+test.status+" ") || !strings.HasSuffix(answer, test.body) {
				t.Errorf("got %q, want status %s and body %q", answer, test.status, test.body)
			}
		})
	}
}

func TestSlowClients(t *testing.T) {
	tests := []struct{ name, send, answer string }{
		{"a client that doesn't finish its header is cut", "GET / HTTP/1.1\r\nHost: x\r\n", ""},
		{"a client that sends nothing is cut", "", ""},
		{"a kept connection without another request is closed", "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a"},
	}
	s := start(t, Options{Handler: http.HandlerFunc(echoTarget), ReadHeader: 50 * time.Millisecond, Idle: 50 * time.Millisecond})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if answer := say(t, s, test.send); !strings.HasSuffix(answer, test.answer) || test.answer == "" && answer != "" {
				t.Errorf("got %q, want %q and the end", answer, test.answer)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	taken := start(t, Options{Handler: http.HandlerFunc(echoTarget)})
	tests := []struct {
		name, address, says string
		is                  error
	}{
		{"a taken port", taken.Addr(), "choose another address", syscall.EADDRINUSE},
		{"an address of another machine", "192.0.2.1:8080", "this machine has no such address", syscall.EADDRNOTAVAIL},
		{"what is no address", "8080", "missing port", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(Options{Address: test.address, Handler: http.HandlerFunc(echoTarget)})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), test.address) {
				t.Errorf("got %q, want the address %s and %q", err, test.address, test.says)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v isn't %v", err, test.is)
			}
		})
	}
	t.Run("no handler, which would be net/http's default mux", func(t *testing.T) {
		if _, err := New(Options{Address: "127.0.0.1:0"}); err == nil {
			t.Error("no error")
		}
	})
}

func TestCloseWithoutServe(t *testing.T) {
	s, err := New(Options{Address: "127.0.0.1:0", Handler: http.HandlerFunc(echoTarget)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", s.Addr()); err == nil {
		conn.Close()
		t.Error("the listener is still open")
	}
}

func TestCloseTellsRequestsWhy(t *testing.T) {
	entered, cause := make(chan struct{}), make(chan error, 1)
	s := start(t, Options{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		cause <- context.Cause(r.Context())
	})})
	go func() {
		<-entered
		s.Close()
	}()
	say(t, s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := <-cause; !errors.Is(got, ErrClosed) {
		t.Errorf("the request's context ended with %v, want ErrClosed", got)
	}
}

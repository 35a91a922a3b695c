package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// sockets is a listener for a synctest bubble whose connections pass for sockets, as long as nobody watches their clients.
type sockets struct{ *memory }

type socket struct{ net.Conn }

func (socket) SyscallConn() (syscall.RawConn, error) { return nil, nil }

func (s sockets) Accept() (net.Conn, error) {
	accepted, err := s.memory.Accept()
	return socket{accepted}, err
}

// connect serves o in a bubble and returns a connection to it.
func connect(t *testing.T, o Options) net.Conn {
	t.Helper()
	memory := newMemory()
	o.Watches = true
	s := serverOn(sockets{memory}, o)
	served := make(chan error)
	go func() { served <- s.Serve() }()
	conn, _ := memory.dial()
	t.Cleanup(func() {
		conn.Close()
		s.Close()
		<-served
	})
	return conn
}

// sent is what a client sends, and when.
type sent struct {
	at   time.Duration
	text string
}

func TestTimeoutsAreInForceWhenTheyShouldBe(t *testing.T) {
	const (
		get   = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		post  = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
		chunk = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbo"
		s     = time.Second
	)
	for _, test := range []struct {
		name         string
		header, idle time.Duration
		h2c          bool
		script       []sent
		answers      int
		cut          time.Duration
	}{
		{"nothing comes", 5 * s, 60 * s, false, nil, 0, 5 * s},
		{"nothing comes to a server that speaks HTTP/2, too", 5 * s, 60 * s, true, nil, 0, 5 * s},
		{"the preface of HTTP/2 doesn't end", 5 * s, 60 * s, true, []sent{{3 * s, "PRI * HTTP/2.0\r\n"}}, 0, 5 * s},
		{"nothing comes where idle is shorter", 60 * s, 5 * s, false, nil, 0, 60 * s},
		{"the header doesn't end", 5 * s, 60 * s, false, []sent{{s, "GET / "}, {2 * s, "HTTP/1.1\r\n"}, {4 * s, "Host: x\r\n"}}, 0, 5 * s},
		{"no further request", 5 * s, 60 * s, false, []sent{{s, get}}, 1, 61 * s},
		{"no further request to a server that speaks HTTP/2, too", 5 * s, 60 * s, true, []sent{{s, get}}, 1, 61 * s},
		{"no further request where idle is shorter", 60 * s, 5 * s, false, []sent{{s, get}}, 1, 6 * s},
		{"no further request, and there is only a header's", 5 * s, 0, false, []sent{{s, get}}, 1, 6 * s},
		{"only idle's", 0, 5 * s, false, []sent{{s, get}, {3 * s, get}}, 2, 8 * s},
		{"nothing comes, and there is only idle's", 0, 5 * s, false, nil, 0, 5 * s},
		{"each further request comes in time", 5 * s, 10 * s, false, []sent{{s, get}, {10 * s, get}, {19 * s, get}, {28 * s, get}}, 4, 38 * s},
		{"a further header doesn't end", 5 * s, 60 * s, false, []sent{{s, get}, {31 * s, "GET / HT"}}, 1, 36 * s},
		{"a further header doesn't end where idle is shorter", 60 * s, 5 * s, false, []sent{{s, get}, {4 * s, "GET / HT"}}, 1, 64 * s},
		{"a further request hardly begins", 5 * s, 60 * s, false, []sent{{s, get}, {31 * s, "GE"}}, 1, 61 * s},
		{"a body may take longer than both", 5 * s, 60 * s, false, []sent{{s, post}, {1000 * s, "bo"}, {2000 * s, "dy"}}, 1, 2060 * s},
		{"so may one in chunks", 5 * s, 60 * s, false, []sent{{s, chunk}, {2000 * s, "dy\r\n0\r\n\r\n"}}, 1, 2060 * s},
		{"a header behind a body", 5 * s, 60 * s, false, []sent{{s, post}, {100 * s, "bodyGET / HT"}}, 1, 105 * s},
		{"two requests at once", 5 * s, 60 * s, false, []sent{{s, get + get}, {31 * s, get + get + "GET / HT"}}, 4, 36 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				conn := connect(t, Options{ReadHeader: test.header, Idle: test.idle, H2C: test.h2c,
					Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						if ConnOf(r.Context()) == nil {
							t.Error("the connection isn't a Conn")
						}
						if _, err := io.Copy(io.Discard, r.Body); err != nil {
							t.Errorf("the body: %v", err)
						}
					})})
				go func() {
					for _, piece := range test.script {
						time.Sleep(piece.at - time.Since(began))
						_, _ = io.WriteString(conn, piece.text)
					}
				}()
				got, _ := io.ReadAll(conn)
				if cut, answers := time.Since(began), strings.Count(string(got), " 200 OK\r\n"); cut != test.cut || answers != test.answers {
					t.Errorf("cut after %v and %d answers, want %v and %d", cut, answers, test.cut, test.answers)
				}
			})
		})
	}
}

// What a handler sets by http.ResponseController holds, on time.
func TestDeadlinesThatHandlersSet(t *testing.T) {
	const s = time.Second
	read := func(r *http.Request) error { _, err := r.Body.Read(make([]byte, 10)); return err }
	write := func(w http.ResponseWriter) error { _, err := w.Write(make([]byte, 1<<20)); return err }
	in := func(set func(time.Time) error, d time.Duration) { _ = set(time.Now().Add(d)) }
	for _, test := range []struct {
		name   string
		handle func(w http.ResponseWriter, c *http.ResponseController, r *http.Request) error
		want   time.Duration
	}{
		{"a client that takes nothing", func(w http.ResponseWriter, c *http.ResponseController, _ *http.Request) error {
			in(c.SetWriteDeadline, 3*s)
			return write(w)
		}, 3 * s},
		{"a client that takes nothing, with a later deadline", func(w http.ResponseWriter, c *http.ResponseController, _ *http.Request) error {
			in(c.SetWriteDeadline, 3*s)
			time.AfterFunc(2*s, func() { in(c.SetWriteDeadline, 5*s) })
			return write(w)
		}, 7 * s},
		{"a client that takes nothing, with an earlier deadline", func(w http.ResponseWriter, c *http.ResponseController, _ *http.Request) error {
			in(c.SetWriteDeadline, time.Hour)
			time.AfterFunc(2*s, func() { in(c.SetWriteDeadline, s) })
			return write(w)
		}, 3 * s},
		{"a body that doesn't come", func(_ http.ResponseWriter, c *http.ResponseController, r *http.Request) error {
			in(c.SetReadDeadline, 3*s)
			return read(r)
		}, 3 * s},
		{"a read that is broken off", func(_ http.ResponseWriter, c *http.ResponseController, r *http.Request) error {
			time.AfterFunc(2*s, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
			return read(r)
		}, 2 * s},
		{"a write that is broken off", func(w http.ResponseWriter, c *http.ResponseController, _ *http.Request) error {
			time.AfterFunc(2*s, func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) })
			return write(w)
		}, 2 * s},
		{"both, of a connection that was taken over", func(_ http.ResponseWriter, c *http.ResponseController, _ *http.Request) error {
			in(c.SetWriteDeadline, s) // it doesn't count any more
			conn, _, err := c.Hijack()
			if err != nil {
				return err
			}
			defer conn.Close()
			in(conn.SetDeadline, 3*s)
			_, err = conn.Read(make([]byte, 10))
			if _, also := conn.Write(make([]byte, 10)); !errors.Is(also, os.ErrDeadlineExceeded) {
				return also
			}
			return err
		}, 3 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan struct{})
				conn := connect(t, Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(done)
					began, controller := time.Now(), http.NewResponseController(w)
					_ = controller.EnableFullDuplex() // else net/http waits for the body before it writes
					err := test.handle(w, controller, r)
					if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != test.want {
						t.Errorf("got %v after %v, want a timeout after %v", err, took, test.want)
					}
				})})
				_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n")
				<-done
			})
		})
	}
}

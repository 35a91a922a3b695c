package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// visit is a request whose client is watched until done is closed.
type visit struct {
	conn     *Conn
	request  *http.Request
	whenLeft sync.Once
	left     chan struct{} // closed when the client has left
	done     chan struct{}
	cause    error // of the server's context, when the client left
}

// watched serves o with a handler that hands each request to the test before it reads its body, if the path asks for that, and
// once more behind that.
func watched(t *testing.T, o Options, before func(*Conn)) (*Server, chan *visit) {
	t.Helper()
	visits := make(chan *visit)
	o.Watches = true
	o.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{conn: ConnOf(r.Context()), request: r, left: make(chan struct{}), done: make(chan struct{})}
		if before != nil {
			before(v.conn)
		}
		v.conn.Watch(func() {
			v.whenLeft.Do(func() {
				v.cause = context.Cause(r.Context())
				close(v.left)
			})
		})
		defer v.conn.Unwatch()
		if r.URL.Path == "/read" {
			visits <- v
			_, _ = io.Copy(io.Discard, r.Body)
		}
		visits <- v
		<-v.done
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RawQuery)
	})
	return start(t, o), visits
}

// dial is a client's connection to s.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	var dialer net.Dialer
	if s.Socket().Addr().Network() == "unix" {
		dialer.LocalAddr = &net.UnixAddr{Name: socketPath(t), Net: "unix"} // a client with a name, which the look is told, too
	}
	conn, err := dialer.Dial(s.Socket().Addr().Network(), s.Socket().Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// answer reads the next one.
func answer(t *testing.T, from *bufio.Reader) string {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// until waits for what nobody tells.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ticks, late := time.NewTicker(time.Millisecond), time.After(20*time.Second)
	defer ticks.Stop()
	for !happened() {
		select {
		case <-ticks.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}

func (c *Conn) looks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looking != nil
}

func (v *visit) looks(t *testing.T) {
	t.Helper()
	until(t, "somebody looks", v.conn.looks)
}

// gone waits until the client has been noticed to have left.
func (v *visit) gone(t *testing.T) {
	t.Helper()
	select {
	case <-v.left:
	case <-time.After(20 * time.Second):
		t.Error("nobody noticed that the client left")
	}
}

// stays fails where the client is said to have left.
func (v *visit) stays(t *testing.T) {
	t.Helper()
	select {
	case <-v.left:
		t.Error("the client hasn't left")
	default:
	}
}

func goes(t *testing.T, how string, conn net.Conn) {
	t.Helper()
	switch how {
	case "half":
		if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Error(err)
		}
		return
	case "reset":
		_ = conn.(*net.TCPConn).SetLinger(0)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

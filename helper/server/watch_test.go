package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	plainGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	upload   = "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
)

func TestAClientThatLeavesIsNoticed(t *testing.T) {
	for _, test := range []struct {
		name string
		come func(t *testing.T, conn net.Conn, visits chan *visit) *visit
	}{
		{"at once", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, plainGet)
			return <-visits
		}},
		{"later", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, plainGet)
			v := <-visits
			v.looks(t)
			return v
		}},
		{"HTTP/1.0", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, "GET / HTTP/1.0\r\n\r\n")
			v := <-visits
			v.looks(t)
			return v
		}},
		{"behind a body that came with the header", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, upload+"body")
			<-visits
			return <-visits
		}},
		{"behind a body that came later", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, upload)
			<-visits
			for _, b := range "body" {
				send(t, conn, string(b))
			}
			v := <-visits
			v.looks(t)
			return v
		}},
		{"behind a body in chunks", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, "POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
			<-visits
			send(t, conn, "1\r\nb\r\n")
			send(t, conn, "3\r\nody\r\n0\r\n\r\n")
			v := <-visits
			v.looks(t)
			return v
		}},
		{"in the middle of a body", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, upload+"bo")
			v := <-visits
			go func() { <-visits }()
			return v
		}},
		{"before a body that is being read", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, upload)
			v := <-visits
			go func() { <-visits }()
			return v
		}},
		{"in a further request, after one that was watched", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			r := bufio.NewReader(conn)
			for range 3 {
				send(t, conn, plainGet)
				v := <-visits
				v.looks(t)
				close(v.done)
				answer(t, r)
				v.stays(t)
			}
			send(t, conn, plainGet)
			return <-visits
		}},
		{"in a further request, after fast ones", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			r := bufio.NewReader(conn)
			for range 100 {
				send(t, conn, plainGet)
				close((<-visits).done)
				answer(t, r)
			}
			send(t, conn, plainGet)
			return <-visits
		}},
		{"in the second of two requests at once", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, plainGet+plainGet)
			v := <-visits
			v.looks(t) // both have been read
			close(v.done)
			answer(t, bufio.NewReader(conn))
			v.stays(t)
			return <-visits
		}},
		{"in the third of three", func(t *testing.T, conn net.Conn, visits chan *visit) *visit {
			send(t, conn, plainGet+plainGet+plainGet)
			r := bufio.NewReader(conn)
			for range 2 {
				close((<-visits).done)
				answer(t, r)
			}
			return <-visits
		}},
	} {
		for _, how := range []string{"close", "half", "reset"} {
			for _, network := range []string{"tcp", "unix"} {
				if how == "reset" && network == "unix" {
					continue // there it is a close
				}
				t.Run(test.name+"/"+how+"/"+network, func(t *testing.T) {
					o := Options{}
					if network == "unix" {
						o.Address = unixScheme + socketPath(t)
					}
					s, visits := watched(t, o, nil)
					conn := dial(t, s)
					v := test.come(t, conn, visits)
					v.stays(t)
					goes(t, how, conn)
					v.gone(t)
					if v.cause != nil {
						t.Errorf("the server's context ended with %v", v.cause)
					}
					close(v.done)
				})
			}
		}
	}
}

// The real deadline is often another request's: it has passed, or is yet to pass.
func TestADeadlineThatStandsEndsNoLook(t *testing.T) {
	for name, at := range map[string]time.Time{"long ago": time.Unix(1, 0), "soon": time.Now().Add(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			s, visits := watched(t, Options{}, func(c *Conn) {
				c.read.mu.Lock()
				defer c.read.mu.Unlock()
				_ = c.read.moveTo(at)
			})
			conn := dial(t, s)
			send(t, conn, plainGet)
			v := <-visits
			v.looks(t)
			if name == "soon" {
				_ = v.conn.Conn.SetReadDeadline(time.Unix(1, 0)) // it passes
			}
			conn.Close()
			v.gone(t)
			close(v.done)
		})
	}
}

func TestCloseTellsWhoWatchesWhy(t *testing.T) {
	for _, test := range []struct {
		name, text string
		looks      bool
	}{
		{"a request", plainGet, false},
		{"a request that is looked after", plainGet, true},
		{"one whose body is read", upload, false},
		{"one whose body nobody reads", strings.Replace(upload, "/read", "/", 1), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, visits := watched(t, Options{}, nil)
			send(t, dial(t, s), test.text)
			v := <-visits
			if strings.HasPrefix(test.text, "POST /read") {
				go func() { <-visits }()
			}
			if test.looks {
				v.looks(t)
			}
			_ = s.Close()
			v.gone(t)
			if !errors.Is(v.cause, ErrClosed) {
				t.Errorf("the cause is %v", v.cause)
			}
			close(v.done)
		})
	}
	t.Run("before anybody watched, and nobody reads the body", func(t *testing.T) {
		var s *Server
		ready := make(chan struct{})
		s, visits := watched(t, Options{}, func(*Conn) { <-ready; _ = s.Close() })
		close(ready)
		send(t, dial(t, s), strings.Replace(upload, "/read", "/", 1))
		v := <-visits
		if v.gone(t); !errors.Is(v.cause, ErrClosed) {
			t.Errorf("the cause is %v", v.cause)
		}
		close(v.done)
	})
}

// net/http may have looked for a byte behind the request before anybody watches its client.
func TestAClientIsWatchedLate(t *testing.T) {
	s, visits := watched(t, Options{}, func(c *Conn) {
		until(t, "the request is whole", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.whole
		})
	})
	conn := dial(t, s)
	send(t, conn, plainGet)
	v := <-visits
	v.looks(t)
	goes(t, "close", conn)
	v.gone(t)
	close(v.done)
}

// What a look would find is the body, and it would be in the way of whoever reads that.
func TestNobodyLooksWhileABodyIsToBeRead(t *testing.T) {
	s, visits := watched(t, Options{}, nil)
	conn := dial(t, s)
	send(t, conn, upload)
	v := <-visits
	if v.conn.timer != nil {
		t.Error("somebody is about to look")
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		v.conn.look() // by a timer of the request before
	}()
	select {
	case <-looked:
	case <-time.After(20 * time.Second):
		t.Error("somebody looks")
	}
	send(t, conn, "body")
	v = <-visits
	v.looks(t)
	v.stays(t)
	close(v.done)
}

// Nobody looks while a body is to be read; but the answer gets nowhere.
func TestAWriteThatFailsTells(t *testing.T) {
	left, entered, reset := make(chan struct{}, 100), make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		c := ConnOf(r.Context())
		c.Watch(sync.OnceFunc(func() { left <- struct{}{} }))
		defer c.Unwatch()
		controller := http.NewResponseController(w)
		_ = controller.EnableFullDuplex() // else net/http reads the body first
		close(entered)
		<-reset
		for controller.Flush() == nil { // after a longer write that fails, net/http closes the connection
			_, _ = io.WriteString(w, "a little")
		}
		select {
		case <-left:
		default:
			t.Error("nobody was told")
		}
	})})
	conn := dial(t, s)
	send(t, conn, upload)
	<-entered
	goes(t, "reset", conn)
	close(reset)
	<-done
}

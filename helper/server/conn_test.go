package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A watched client that sends further requests loses no byte of them, and isn't said to have left.
func TestRequestsBehindAWatchedOneAreWhole(t *testing.T) {
	s, visits := watched(t, Options{}, nil)
	conn := dial(t, s)
	r := bufio.NewReader(conn)
	send(t, conn, plainGet)
	v := <-visits
	v.looks(t)
	const others = 5
	for i := range others { // behind the watched one, at once and byte by byte
		send(t, conn, fmt.Sprintf("GET /?%d HTTP/1.1\r\nHo", i))
		for _, b := range "st: x\r\n\r\n" {
			send(t, conn, string(b))
		}
	}
	until(t, "the look ends, because there is something to read", func() bool { return !v.conn.looks() })
	close(v.done)
	answer(t, r)
	for i := range others {
		next := <-visits
		v.stays(t)
		next.stays(t)
		close(next.done)
		if got, want := answer(t, r), fmt.Sprint("GET ", i); got != want {
			t.Errorf("answer %q, want %q", got, want)
		}
	}
}

func TestAfterUnwatchNobodyLooks(t *testing.T) {
	for _, looks := range []bool{false, true} {
		t.Run(fmt.Sprintf("looked before: %v", looks), func(t *testing.T) {
			later := time.Now().Add(time.Hour)
			s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				c := ConnOf(r.Context())
				c.Watch(func() { t.Error("the client is said to have left") })
				if looks {
					until(t, "somebody looks", c.looks)
				}
				_ = c.SetReadDeadline(later)
				until(t, "net/http has looked for a byte", func() bool {
					c.mu.Lock()
					defer c.mu.Unlock()
					return c.timer != nil
				})
				c.Unwatch()
				if c.timer.Stop() {
					t.Error("somebody is about to look")
				}
				if c.looks() {
					t.Error("somebody still looks")
				}
				if c.look(); c.looks() { // by a timer that had fired before
					t.Error("somebody looks again")
				}
				if looks && !c.read.real.Equal(later) {
					t.Errorf("the deadline is %v", c.read.real)
				}
			})})
			conn := dial(t, s)
			r := bufio.NewReader(conn)
			for range 2 {
				send(t, conn, plainGet)
				answer(t, r)
			}
		})
	}
}

// A connection that was taken over is read as any other, also byte by byte.
func TestAConnectionThatIsTakenOver(t *testing.T) {
	const text = "what comes behind the request"
	ended := make(chan error, 1)
	s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := ConnOf(r.Context())
		c.Watch(func() { t.Error("the client is said to have left") })
		until(t, "somebody looks", c.looks)
		c.Unwatch()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "go on\n")
		for empty, b := 0, make([]byte, 1); err == nil; {
			var n int
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			if n, err = conn.Read(b); n == 0 {
				empty++
			} else {
				empty = 0
			}
			if empty > 1 && err == nil {
				err = errors.New("two reads in turn got nothing")
			}
			_, _ = conn.Write(b[:n])
		}
		ended <- err
	})})
	conn := dial(t, s)
	send(t, conn, plainGet)
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); line != "go on\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	send(t, conn, text)
	goes(t, "half", conn)
	if got, err := io.ReadAll(r); string(got) != text || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
}

// A body that is answered while it comes is read as it comes, and the client's end is noticed by that.
func TestFullDuplex(t *testing.T) {
	left := make(chan struct{})
	s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := ConnOf(r.Context())
		c.Watch(sync.OnceFunc(func() { close(left) }))
		defer c.Unwatch()
		controller := http.NewResponseController(w)
		_ = controller.EnableFullDuplex()
		_ = controller.Flush()
		b := make([]byte, 100)
		for {
			n, err := r.Body.Read(b)
			if err != nil {
				return
			}
			_, _ = w.Write(b[:n])
			_ = controller.Flush()
		}
	})})
	conn := dial(t, s)
	send(t, conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"a", "few", "pieces"} {
		send(t, conn, piece)
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != piece {
			t.Fatalf("got %q, %v, want %q", got, err, piece)
		}
	}
	select {
	case <-left:
		t.Error("the client hasn't left")
	default:
	}
	goes(t, "half", conn)
	<-left
}

// Where the connection can't be watched, or nobody says that he does, the request's context ends with its client.
func TestTheContextEndsWhereNobodyWatches(t *testing.T) {
	config, client := certificate(t)
	for _, test := range []struct {
		name    string
		options Options
		set     func(*http.Protocols)
		conn    bool
	}{
		{"HTTP/1.1 where it isn't asked for", Options{}, func(p *http.Protocols) { p.SetHTTP1(true) }, false},
		{"HTTP/1.1 over TLS", Options{Watches: true, TLS: config}, func(p *http.Protocols) { p.SetHTTP1(true) }, false},
		{"HTTP/2 over TLS", Options{Watches: true, TLS: config}, func(p *http.Protocols) { p.SetHTTP2(true) }, false},
		{"HTTP/2 without TLS", Options{Watches: true, H2C: true}, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			entered, cause := make(chan bool), make(chan error, 1)
			test.options.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				entered <- ConnOf(r.Context()) != nil
				<-r.Context().Done()
				cause <- context.Cause(r.Context())
			})
			s := start(t, test.options)
			transport := client.Clone()
			transport.Protocols = &http.Protocols{}
			test.set(transport.Protocols)
			defer transport.CloseIdleConnections()
			scheme := "http"
			if test.options.TLS != nil {
				scheme = "https"
			}
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				r, _ := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+s.Addr(), nil)
				_, _ = transport.RoundTrip(r)
			}()
			if conn := <-entered; conn != test.conn {
				t.Errorf("the connection is a Conn: %v", conn)
			}
			leave()
			if err := <-cause; !errors.Is(err, context.Canceled) {
				t.Errorf("the cause is %v", err)
			}
		})
	}
}

// A handler that ends in a panic unwatches nobody.
func TestAPanicEndsTheConnectionAndTheWatch(t *testing.T) {
	left := make(chan struct{}, 2)
	s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c := ConnOf(r.Context())
		c.Watch(sync.OnceFunc(func() { left <- struct{}{} }))
		until(t, "somebody looks", c.looks)
		panic(http.ErrAbortHandler)
	})})
	if got := say(t, s, plainGet); got != "" {
		t.Errorf("got %q", got)
	}
	<-left
}

// A real socket's buffers take some of it, and then nothing.
func TestAClientThatTakesNothingIsCut(t *testing.T) {
	const patience = 50 * time.Millisecond
	done := make(chan struct{})
	s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		began, piece := time.Now(), []byte(strings.Repeat("x", 1<<20))
		_ = http.NewResponseController(w).SetWriteDeadline(began.Add(patience))
		var err error
		for err == nil {
			_, err = w.Write(piece)
		}
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took < patience {
			t.Errorf("cut by %v after %v", err, took)
		}
		until(t, "the context ends, as net/http has it", func() bool { return r.Context().Err() != nil })
	})})
	send(t, dial(t, s), plainGet)
	<-done
}

// A read that waits is broken off from outside, and the next one isn't.
func TestAWaitingReadIsBrokenOff(t *testing.T) {
	done := make(chan struct{})
	var client net.Conn
	s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		defer close(done)
		c := ConnOf(r.Context())
		c.Watch(func() { t.Error("the client is said to have left") })
		defer c.Unwatch()
		until(t, "somebody looks, who mustn't be in the way", c.looks)
		ended := make(chan error)
		for _, wait := range []bool{true, false} { // false: the read may come before or behind the deadline
			_ = c.SetReadDeadline(time.Time{})
			go func() {
				_, err := c.Read(make([]byte, 2))
				ended <- err
			}()
			if wait {
				until(t, "somebody reads", func() bool {
					c.read.mu.Lock()
					defer c.read.mu.Unlock()
					return c.read.waiting > 0
				})
			}
			_ = c.SetReadDeadline(time.Unix(1, 0))
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the read ended with %v", err)
			}
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(client, "ok")
		got := make([]byte, 2)
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "ok" {
			t.Errorf("got %q, %v", got, err)
		}
	})})
	client = dial(t, s)
	send(t, client, plainGet)
	<-done
}

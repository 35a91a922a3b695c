package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
)

// arrival is a connection's note of whether something came over it that the handler hasn't got. It is safe for concurrent use.
type arrival struct {
	readable bool // what is read can be told from what comes before and between requests; not over TLS
	pending  atomic.Bool
	waiting  atomic.Bool // for a request, whose bytes come next
	http2    atomic.Bool // there is always something to read
}

func (a *arrival) note() *arrival { return a }

// served notes that the handler has what came, or that the next request is waited for.
func (a *arrival) served(waiting bool) {
	a.waiting.Store(waiting && a.readable)
	a.pending.Store(false)
}

// came notes what was read: net/http doesn't tell of everything that it refuses.
func (a *arrival) came(p []byte) {
	p = bytes.TrimLeft(p, "\r\n") // old clients send such behind a POST
	if len(p) > 0 && a.waiting.Load() && !a.http2.Load() {
		a.http2.Store(bytes.HasPrefix(p, []byte("PRI * HTTP/2"))) // RFC 9113 section 3.4
		a.pending.Store(!a.http2.Load())
	}
}

// noted is a connection with a note that is no Conn.
type noted struct {
	net.Conn
	arrival
}

// Read implements net.Conn.
func (c *noted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.came(p[:n])
	return n, err
}

// notedListener makes its connections noted.
type notedListener struct {
	net.Listener
	encrypted bool
}

func (l notedListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &noted{Conn: accepted, arrival: arrival{readable: !l.encrypted}}
	c.served(true)
	return c, nil
}

// noteOf is a connection's note, nil where it has none.
func noteOf(c net.Conn) *arrival {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if c, ok := c.(interface{ note() *arrival }); ok {
		return c.note()
	}
	return nil
}

type noteKey struct{}

// countRefused has refused called as Options.Refused says.
func countRefused(s *http.Server, refused func(), closing *atomic.Bool) {
	handler, connContext, connState := s.Handler, s.ConnContext, s.ConnState
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(connContext(ctx, c), noteKey{}, noteOf(c))
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if note, _ := r.Context().Value(noteKey{}).(*arrival); note != nil {
			note.http2.Store(r.ProtoMajor == 2) // its preface may have come in pieces
			note.served(false)
		}
		handler.ServeHTTP(w, r)
	})
	s.ConnState = func(c net.Conn, state http.ConnState) {
		connState(c, state)
		note := noteOf(c)
		switch {
		case note == nil:
		case state == http.StateActive:
			note.pending.Store(true)
		case state == http.StateIdle: // HTTP/2 is active once before any request comes
			note.served(true)
		case state == http.StateClosed && note.pending.Load() && !closing.Load():
			refused()
		}
	}
}

package proxy

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"gatehouse/helper/upstream"
)

// sending is how far one attempt has come: a transport.Progress. The transport tells
// that the header was written on whichever goroutine it likes, also when the attempt
// is over.
type sending struct {
	stage  atomic.Int32
	conn   net.Conn // nil: it has none yet
	reused bool     // conn has served another request
}

// The stages of an attempt.
const (
	prepared   int32 = iota // net/http may still find that the request can't be sent
	connecting              // it waits for a connection
	connected               // it has one
	written                 // its header has been written
)

// sender is the transport of a backend. It knows how far each attempt comes, and
// keeps net/http from sending a request again where the backend may have seen it:
// how often that happens is the proxy's to decide.
type sender struct {
	http.RoundTripper
	identity []string    // the transfer coding
	http2    atomic.Bool // what the backend spoke last; there net/http repeats only what it never processed
}

func newSender(b *upstream.Backend) *sender {
	s := &sender{RoundTripper: b.Transport, identity: []string{"identity"}}
	s.http2.Store(strings.HasPrefix(b.Name, "h2c:"))
	return s
}

func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	c := callOf(r.Context())
	c.exchange.Lane.Progress, c.exchange.Lane.TakesFields = c.sending, true
	res, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		if http2 := res.ProtoMajor == 2; http2 != s.http2.Load() {
			s.http2.Store(http2)
		}
	}
	return res, err
}

// Connecting implements transport.Progress.
func (s *sending) Connecting(string) { s.stage.Store(connecting) }

// Connected implements transport.Progress.
func (s *sending) Connected(conn net.Conn, reused bool) {
	s.conn, s.reused = conn, reused
	s.stage.Store(connected)
}

// Written implements transport.Progress.
func (s *sending) Written() { s.stage.Store(written) }

// once makes net/http send the request once only, unless nothing of it has gone
// out. It repeats a GET, HEAD or OPTIONS that has no body or one that can be read
// again, and any request with an Idempotency-Key, on one kept-alive connection
// after the other. It doesn't know that header by a name in lower case, which says
// the same to everybody else.
func (s *sender) once(out *http.Request) {
	for _, name := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := out.Header[name]; ok {
			delete(out.Header, name)
			out.Header[strings.ToLower(name)] = values
		}
	}
	switch out.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		return
	}
	switch {
	case out.Body != nil && out.Body != http.NoBody:
		out.GetBody = nil
	case !s.http2.Load():
		out.Body, out.TransferEncoding = nothing{}, s.identity // so that no length is sent, and no chunk
		delete(out.Header, "Expect")                           // means nothing without content (RFC 9110 section 10.1.1)
	}
}

// nothing is an empty body that net/http doesn't know to be empty.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

func (nothing) WriteTo(io.Writer) (int64, error) { return 0, nil }

func (nothing) Close() error { return nil }

// Len tells a transport.Lane that there is nothing to wait for.
func (nothing) Len() int { return 0 }

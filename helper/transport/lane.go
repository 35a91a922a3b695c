package transport

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http/httpguts"
)

// Lane is the round tripper for the common case: a request over HTTP/1.1 with no
// body, or with one that is already in memory. It writes the request and reads
// the answer on the goroutine that calls it, which saves the two goroutines a
// connection and the handing over between them that http.Transport has. Whatever
// is not the common case goes to an http.Transport with the same limits:
// upgrades, Expect, bodies that are still to come, trailers, HTTP/2, another host
// than the lane's, and everything when MaxConns is set, because one pool has to
// count the connections.
//
// What is sent, accepted and refused is what http.Request.Write and
// http.ReadResponse send, accept and refuse. Of the answer a lane is stricter in two
// things:
//   - A connection on which more came than the answer is not used again.
//   - A 101 that nobody asked for has no body, and ends the connection.
//
// It is later in one thing: an answer is given up after 1.0 to 1.1 of
// Options.ResponseHeader. It is safe for concurrent use.
type Lane struct {
	standard *http.Transport
	options  Options
	target   *url.URL
	address  string
	idle     pool
	requests sync.Pool    // of *bytes.Buffer
	protocol atomic.Int32 // the major version of HTTP that the backend speaks; 0: not known yet
}

// maxAtHand is the longest body that a lane sends. It is sent before the answer is
// read, so it has to fit into the buffers of the connection: a backend that answers
// early and reads no further would wait for the lane as the lane waits for it.
const maxAtHand = 16 << 10

// maxKeptRequest is the largest buffer of a request that is kept for another one.
const maxKeptRequest = 64 << 10

// NewLane makes the lane to the backend at target.
func NewLane(o Options, target *url.URL) *Lane {
	l := &Lane{
		standard: New(o), options: o, target: target, address: address(target),
		idle:     pool{max: o.MaxIdle, timeout: o.IdleConn},
		requests: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
	switch {
	case o.Standard || o.H2C || o.MaxConns > 0 || l.address == "":
		l.protocol.Store(2)
	case target.Scheme == "http":
		l.protocol.Store(1)
	}
	return l
}

// address is the HOST:PORT of a URL, "" without a host, or for one that net/http
// would encode first.
func address(u *url.URL) string {
	if u.Hostname() == "" {
		return ""
	}
	for _, b := range []byte(u.Hostname()) {
		if b >= 0x80 {
			return ""
		}
	}
	switch port := u.Port(); {
	case port != "":
		return net.JoinHostPort(u.Hostname(), port)
	case u.Scheme == "https":
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// CloseIdleConnections closes the connections that are not in use.
func (l *Lane) CloseIdleConnections() {
	l.idle.closeAll()
	l.standard.CloseIdleConnections()
}

// RoundTrip implements http.RoundTripper. The cause of the request's context is
// the error when that ended the call. A timeout's error has a Timeout method.
func (l *Lane) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	trace := httptrace.ContextClientTrace(ctx)
	watch, _ := ctx.Value(WatchKey{}).(*Watch)
	told := watch != nil && watch.Progress != nil
	text := l.requests.Get().(*bytes.Buffer)
	defer l.keep(text)
	var fields []Field
	if watch != nil {
		fields, watch.Answered = watch.Fields, nil
	}
	if !l.takes(r, fields, text) {
		if told {
			followed(watch.Progress, trace)
		}
		res, err := l.standard.RoundTrip(r)
		if err == nil && l.protocol.Load() == 0 {
			l.protocol.Store(int32(res.ProtoMajor)) // what ALPN agreed on, on a connection of http.Transport
		}
		return res, err
	}
	t := trip{Request: r, progress: (*traced)(trace), trace: trace, watch: watch}
	if told {
		t.progress = watch.Progress
	}
	for {
		t.progress.Connecting(l.address)
		c, err := l.connection(ctx)
		if err == nil {
			t.progress.Connected(c.net, c.reused)
			if text.Len() == 0 { // not before: it tells the trace that the header is written
				if err = r.Write(text); err != nil {
					c.close()
				}
			}
		}
		if err == nil {
			var res *http.Response
			if res, err = c.roundTrip(&t, text.Bytes()); err == nil {
				return res, nil
			}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var stale *staleError
		if !errors.As(err, &stale) || !stale.unwritten && !repeatable(r) {
			return nil, err
		}
	}
}

// trip is one call of RoundTrip.
type trip struct {
	*http.Request
	progress Progress
	trace    *httptrace.ClientTrace // nil: there is none
	watch    *Watch                 // nil: the context is watched
}

// tell hands over the header of a plain answer.
func (t *trip) tell(res *http.Response, fields []Field) {
	if t.watch != nil && t.watch.TakesFields {
		t.watch.Answered = fields
		return
	}
	res.Header = headerOf(fields)
}

func (l *Lane) keep(text *bytes.Buffer) {
	if text.Cap() <= maxKeptRequest {
		text.Reset()
		l.requests.Put(text)
	}
}

// connection is an unused one, or a new one.
func (l *Lane) connection(ctx context.Context) (*link, error) {
	if c := l.idle.get(); c != nil {
		return c, nil
	}
	return l.dial(ctx)
}

// takes says whether r is the common case. What http.Transport would refuse isn't:
// so it is refused with the same words. A plain request is written to text.
func (l *Lane) takes(r *http.Request, fields []Field, text *bytes.Buffer) bool {
	common := l.common(r)
	if common {
		if plain, ok := appendPlain(text.AvailableBuffer(), r, fields); ok {
			_, _ = text.Write(plain) // never fails
			return true
		}
	}
	if r.Header != nil { // else http.Transport refuses it
		AddFields(r.Header, fields)
	}
	if !common {
		return false
	}
	for name, values := range r.Header {
		if !laneTakes(name, values) {
			return false
		}
	}
	return true
}

func (l *Lane) common(r *http.Request) bool {
	return l.protocol.Load() == 1 && r.URL != nil && r.URL.Host == l.target.Host && r.URL.Scheme == l.target.Scheme &&
		httpguts.ValidHeaderFieldName(r.Method) && r.Method != http.MethodConnect && !r.Close && r.Header != nil &&
		len(r.Trailer) == 0 && atHand(r)
}

// laneTakes says whether a request with this header can go by a lane.
func laneTakes(name string, values []string) bool {
	if name == "Connection" || name == "Upgrade" || name == "Expect" || !httpguts.ValidHeaderFieldName(name) {
		return false
	}
	for _, value := range values {
		if !httpguts.ValidHeaderFieldValue(value) {
			return false
		}
	}
	return true
}

// atHand says whether reading the request's body doesn't wait: there is none, or
// all of it is in memory, which a body tells by its Len. One that is empty may have
// the transfer encoding identity, by which net/http sends no length.
func atHand(r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody {
		return r.ContentLength == 0 && len(r.TransferEncoding) == 0
	}
	memory, ok := r.Body.(interface{ Len() int })
	if !ok || int64(memory.Len()) != r.ContentLength || r.ContentLength > maxAtHand {
		return false
	}
	if r.ContentLength == 0 {
		return len(r.TransferEncoding) == 1 && r.TransferEncoding[0] == "identity"
	}
	return len(r.TransferEncoding) == 0
}

// repeatable says whether a request may be sent again when it may have reached the
// backend, as net/http sees it.
func repeatable(r *http.Request) bool {
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	_, key := r.Header["Idempotency-Key"]
	_, experimental := r.Header["X-Idempotency-Key"]
	return key || experimental
}

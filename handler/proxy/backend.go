package proxy

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"gatehouse/helper/transport"
	"gatehouse/helper/upstream"
)

const copyBuffer = 32 << 10

// buffers hands out the buffers that answers are copied with.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{sync.Pool{New: func() any { return new([copyBuffer]byte) }}}
}

func (b *buffers) Get() []byte  { return b.pool.Get().(*[copyBuffer]byte)[:] }
func (b *buffers) Put(p []byte) { b.pool.Put((*[copyBuffer]byte)(p)) }

// Reverse makes the reverse proxy of a backend, which is its Handler. It serves
// requests that a handler of this package has begun, of any route.
func Reverse(b *upstream.Backend) http.Handler {
	rp := httputil.NewSingleHostReverseProxy(b.Target)
	sender := newSender(b)
	// Director runs before hop-by-hop removal, so a client could remove what it
	// sets by naming it in Connection. Rewrite runs after.
	rp.Director = nil //nolint:staticcheck // clearing the deprecated field is the point
	rp.Rewrite = func(pr *httputil.ProxyRequest) {
		callOf(pr.In.Context()).rewrite(pr)
		sender.once(pr.Out)
	}
	rp.ModifyResponse = func(res *http.Response) error { return callOf(res.Request.Context()).answered(res) }
	rp.ErrorHandler = func(_ http.ResponseWriter, r *http.Request, err error) { callOf(r.Context()).err = err }
	rp.ErrorLog = log.New(io.Discard, "", 0) // what went wrong stands in the access log, with its code
	rp.Transport = sender
	rp.BufferPool = newBuffers()
	return rp
}

// rewrite makes the request that the backend sees.
func (c *call) rewrite(pr *httputil.ProxyRequest) {
	ex, in, out := c.exchange, pr.In, pr.Out
	out.Host = c.upstream.Host.of(in.Host, c.backend)
	target(out, c.backend.Target, c.path, c.upstream.Consumed.Query(in.URL.RawQuery))
	c.upstream.Consumed.Cookies(out.Header)

	if out.Header["Upgrade"] != nil && !strings.EqualFold(out.Header.Get("Upgrade"), "websocket") {
		out.Header.Del("Upgrade") // h2c and others would speak past the gateway
		out.Header.Del("Connection")
	}
	spoofed := c.upstream.Guard.Strip(out.Header, ex.Client.Trusted)
	if !spoofed && in.Header["Connection"] != nil { // what it names is gone from out already
		spoofed = c.upstream.Guard.Spoofed(in.Header)
	}
	if out.Trailer != nil {
		spoofed = c.upstream.Guard.Strip(out.Trailer, false) || spoofed
		dropTrailers(out.Trailer)
		ex.Upstreamward.DropSpellings(out.Trailer)
		c.request.passTrailers(out.Trailer)
	}
	if spoofed && ex.Attempts == 1 {
		c.upstream.Observer.Spoofed()
	}
	if ex.DropToken {
		delete(out.Header, "Authorization")
	}
	set := setter{out.Header, c.room()}
	forwarding := ex.Client.Forwarding(in)
	set.orDrop("X-Forwarded-For", forwarding.For)
	set.orDrop("X-Forwarded-Host", forwarding.Host)
	set.orDrop("X-Forwarded-Proto", forwarding.Proto)
	set.orDrop("Forwarded", forwarding.Forwarded)
	set.orDrop("X-Request-Id", ex.RequestID)
	child := ex.Trace.Child()
	c.startSpan(child.SpanID)
	set.orDrop("Traceparent", child.String())
	if !ex.KeepTracestate {
		delete(out.Header, "Tracestate")
	}
	*c.fields = ex.Upstreamward.Split(out.Header, set.fields)
	ex.Lane.Fields = *c.fields
	c.copy.take(out, ex.Lane.Fields)
}

// room is where the fields of an attempt are put.
func (c *call) room() []transport.Field {
	if c.fields == nil {
		var again bool
		if c.fields, again = c.upstream.fields.Get().(*[]transport.Field); !again {
			c.fields = new(make([]transport.Field, 0, 10)) // most requests get fewer
		}
	}
	return (*c.fields)[:0]
}

// keepFields gives the room back, with nothing of the request in it: nobody looks at
// fields when the attempt is over.
func (c *call) keepFields() {
	if c.fields == nil {
		return
	}
	c.exchange.Lane.Fields = nil
	clear((*c.fields)[:cap(*c.fields)])
	c.upstream.fields.Put(c.fields)
	c.fields = nil
}

// of is the Host for a backend, when in is the one that came in.
func (h Host) of(in string, b *upstream.Backend) string {
	switch {
	case h.Client:
		return in
	case h.Literal != "":
		return h.Literal
	}
	return b.Target.Host
}

// target points out at the backend with the path and query as they came.
// Opaque is what net/http writes to the request line unchanged, but not when it
// begins with two slashes, where it is taken for an authority. Such a path goes
// in RawPath, and in a target with the authority (RFC 9112 section 3.2.2) where
// net/http would escape it anew.
func target(out *http.Request, backend *url.URL, path, rawQuery string) {
	out.URL.Scheme, out.URL.Host = backend.Scheme, backend.Host
	if base := strings.TrimSuffix(backend.EscapedPath(), "/"); base != "" {
		path = base + path
	}
	out.URL.RawQuery = rawQuery
	if !strings.HasPrefix(path, "//") {
		out.URL.Opaque = path
		return
	}
	out.URL.Opaque, out.URL.RawPath = "", path
	if decoded, err := url.PathUnescape(path); err == nil {
		out.URL.Path = decoded
	}
	if out.URL.EscapedPath() != path {
		out.URL.Opaque = "//" + out.Host + path
	}
}

// setter sets headers of a request that has more fields than those of its header.
type setter struct {
	header http.Header
	fields []transport.Field
}

func (s *setter) orDrop(name, value string) {
	delete(s.header, name)
	if value != "" {
		s.fields = append(s.fields, transport.NewField(name, value))
	}
}

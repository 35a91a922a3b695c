package gateway

import (
	"net/http"
	"strings"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/server"
	"gatehouse/helper/trace"
	"gatehouse/logger"
)

// ServeHTTP begins the record of a request, sends it through the chain, and
// closes the record, whatever happened.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.inFlight.Add(1)
	g.deps.Observer.InFlight(1)
	s := g.enter()
	ex, r := exchange.Begin(w, r, s.writeIdle)
	ex.Observer = g.unmatched
	ex.Client = s.clients.Resolve(r.RemoteAddr, r.Header)
	g.identify(ex, r.Header)
	ex.Clientward.Set("X-Request-Id", ex.RequestID)
	if g.closes(ex, r) {
		ex.Clientward.Set("Connection", "close")
	}
	defer g.finish(s, ex, r)
	defer ex.End()
	s.handler.ServeHTTP(&ex.Writer, r)
}

// closes says whether the connection takes no request behind this one.
func (g *Gateway) closes(ex *exchange.Exchange, r *http.Request) bool {
	switch {
	case !r.ProtoAtLeast(1, 1):
		return true // net/http ignores a Transfer-Encoding: the next request may be a body (RFC 9112 section 6.1)
	case len(r.TransferEncoding) > 0:
		framing := ex.Framing()
		ex.TwoFramings = framing == server.TwoFramings
		return framing != server.OneFraming || g.draining.Load()
	}
	return g.draining.Load() && r.Header["Upgrade"] == nil // an upgrade has its own Connection
}

// identify continues the trace that the request belongs to, or starts one. The
// request id is a trusted proxy's own, or the trace id.
func (g *Gateway) identify(ex *exchange.Exchange, h http.Header) {
	continued := false
	if parents := h["Traceparent"]; len(parents) == 1 {
		ex.Trace, continued = trace.Parse(parents[0])
	}
	if !continued {
		ex.Trace = trace.New()
	}
	g.deps.Tracing.begin(ex, continued)
	ex.KeepTracestate = continued && trace.ValidTracestate(strings.Join(h["Tracestate"], ","))
	ex.TraceID = ex.Trace.TraceIDString()
	ex.RequestID = ex.TraceID
	if ids := h["X-Request-Id"]; ex.Client.Trusted && len(ids) == 1 && trace.ValidRequestID(ids[0]) {
		ex.RequestID = ids[0]
	}
}

// finish counts and logs the request. It runs also while a panic goes on up.
func (g *Gateway) finish(s *snapshot, ex *exchange.Exchange, r *http.Request) {
	if r.ContentLength != 0 {
		linger(ex, s.writeIdle)
	}
	ended := time.Now()
	duration := ended.Sub(ex.Start)
	status := ex.Status()
	if status == 0 { // the handler wrote nothing: net/http answers 200 with an empty body
		status = http.StatusOK
	}
	ex.Observer.Observe(r.Method, status, duration, max(0, duration-ex.UpstreamTime), ex.TraceID)
	if ex.Code != "" {
		ex.Observer.Rejected(string(ex.Code))
	}
	if s.access.Enabled() {
		e := entry(ex, r, status, ended)
		s.access.Log(&e)
	}
	g.deps.Tracing.end(ex, r, status, duration)
	s.release()
	g.deps.Observer.InFlight(-1)
	if g.inFlight.Add(-1) == 0 {
		select {
		case g.idle <- struct{}{}:
		default:
		}
	}
}

// lingerTime is how long a client may take to send the rest of a body that
// nobody reads.
const lingerTime = 5 * time.Second

// linger bounds what happens behind the handler: net/http reads the rest of a
// short body, without limit of time, before it answers or closes.
func linger(ex *exchange.Exchange, writeIdle time.Duration) {
	client := http.NewResponseController(ex.Writer.ResponseWriter)
	until := time.Now().Add(min(lingerTime, writeIdle))
	_ = client.SetReadDeadline(until)
	_ = client.SetWriteDeadline(until.Add(writeIdle))
}

func entry(ex *exchange.Exchange, r *http.Request, status int, ended time.Time) logger.Entry {
	e := logger.Entry{
		Time: ended, TraceID: ex.TraceID, Method: r.Method, Host: ex.Host, Path: ex.RawPath, Query: r.URL.RawQuery,
		Route: ex.Route, Upstream: ex.Upstream, Backend: ex.Backend,
		Status: status, Code: string(ex.Code), Duration: ended.Sub(ex.Start), UpstreamTime: ex.UpstreamTime,
		BytesIn: ex.BytesIn, BytesOut: ex.Writer.Bytes(), ClientIP: ex.Client.String(), Limited: ex.Limited,
		Attempts: ex.Attempts, Protocol: r.Proto, UserAgent: r.UserAgent(), Header: r.Header,
	}
	if p := ex.Principal; p != nil {
		e.Subject, e.Client = p.Subject, p.Client
	}
	return e
}

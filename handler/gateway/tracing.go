package gateway

import (
	"net/http"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/trace"
)

// Tracing is who records the spans of requests, and of which. The zero value
// records none, and continues traces all the same.
type Tracing struct {
	Record  func(*trace.Request) // any goroutine; nil: nobody records
	Sampler trace.Sampler        // for requests whose caller has not decided
}

// begin makes the request a span of its trace, if it is sampled: the caller
// decides, by the flag of its traceparent, or the sampler for a trace that begins
// here.
func (t *Tracing) begin(ex *exchange.Exchange, continued bool) {
	if t.Record == nil {
		return
	}
	switch {
	case !continued && !t.Sampler.Samples(ex.Trace):
		ex.Trace.Flags = 0 // services behind don't record either
	case continued && ex.Trace.Flags&trace.Sampled != 0:
		ex.Spans = &exchange.Spans{Parent: ex.Trace.SpanID}
		ex.Trace = ex.Trace.Child()
	case !continued:
		ex.Spans = &exchange.Spans{}
	}
}

// end hands the spans of a finished request over.
func (t *Tracing) end(ex *exchange.Exchange, r *http.Request, status int, duration time.Duration) {
	if ex.Spans == nil {
		return
	}
	t.Record(&trace.Request{
		Trace: ex.Trace, Parent: ex.Spans.Parent, Start: ex.Start, End: ex.Start.Add(duration),
		Method: r.Method, Host: ex.Host, Path: ex.RawPath, Route: ex.Route, Upstream: ex.Upstream, Client: ex.Client.String(),
		Status: status, Code: string(ex.Code), Attempts: ex.Spans.Attempts,
	})
}

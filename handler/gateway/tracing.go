package gateway

import (
	"net/http"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/trace"
)

// Tracing is who records the spans of requests, and of which, and those of fetches. The zero value
// records none, and continues traces all the same.
type Tracing struct {
	Record  func(*trace.Request) // any goroutine; nil: nobody records
	Fetched func(*trace.Fetch)   // of keys; any goroutine; nil: nobody records
	Sampler trace.Sampler        // for requests that no trusted proxy has decided on
}

// begin makes the request a span of its trace, if it is sampled. The sampler
// decides for a trace that begins here, by its id. For one that goes on, the flag
// of the caller's traceparent does, but anybody can set that: of the traces that
// come from no trusted proxy, no more than the sampler's share is recorded, chosen
// by chance since their ids are the caller's as well. The flag is passed on as it
// came.
func (t *Tracing) begin(ex *exchange.Exchange, continued bool) {
	if t.Record == nil {
		return
	}
	switch {
	case !continued && t.Sampler.Samples(ex.Trace):
		ex.Spans = &exchange.Spans{}
		ex.Trace.Flags = trace.Sampled // services behind record it too
	case continued && ex.Trace.Flags&trace.Sampled != 0 && (ex.Client.Trusted || t.Sampler.Samples(trace.New())):
		ex.Spans = &exchange.Spans{Parent: ex.Trace.SpanID}
		ex.Trace = ex.Trace.Child()
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
		Status: status, Code: string(ex.Code), Attempts: ex.Spans.Attempts, Calls: ex.Spans.Calls,
	})
}

// fetched hands over how the keys of some providers were fetched. It happens too
// seldom to be sampled, and is no request's: all that need the keys share it.
func (t *Tracing) fetched(providers []string, fetch *trace.Fetch) {
	if t.Fetched == nil || fetch == nil {
		return
	}
	fetch.Providers = providers
	t.Fetched(fetch)
}

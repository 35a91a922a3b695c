package proxy

import (
	"context"
	"net/http"
	"sync"
	"time"

	"gatehouse/helper/credential"
	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/retry"
	"gatehouse/helper/route"
	"gatehouse/helper/upstream"
)

// Upstream is what the routes of one upstream share.
type Upstream struct {
	Pool     *upstream.Pool
	Guard    *Guard
	Consumed credential.Remover // the cookies and parameters that have the gateway's tokens
	Host     Host
	Idle     time.Duration         // no byte either way; 0: no limit
	Lease    time.Duration         // how long a trial may take to send its body; 0: no limit
	Failing  func(status int) bool // which statuses speak against the upstream
	Retry    retry.Policy
	Budget   *retry.Budget
	Key      Key // what a backend is chosen by; nil: nothing
	Observer Observer

	alarms sync.Pool // of *alarm
	fields sync.Pool // of *[]transport.Field
}

// Key is what of a request chooses its backend, where that depends on the request.
type Key func(*exchange.Exchange, *http.Request) uint64

// Observer is told about the calls to backends.
type Observer interface {
	// Answered is called once per attempt that got a header, with the time it took.
	Answered(backend *upstream.Backend, d time.Duration)
	// Retried is called for each further attempt, with the reason as the config
	// spells it: connect, reset, timeout or a status.
	Retried(reason string)
	// BudgetExhausted is called when a further attempt would have been made, but
	// for the budget.
	BudgetExhausted()
	// Failed is called for each attempt that failed by its backend, before the pool
	// is told.
	Failed(*upstream.Backend, Failure)
	// Spoofed is called for a request that carried an identity header.
	Spoofed()
}

// Host says which Host the backend sees.
type Host struct {
	Client  bool   // the one that came in
	Literal string // this one; "" and not Client: the one in the backend's URL
}

// Options are one route's way through the proxy.
type Options struct {
	Prefix      string // the matched path prefix, removed when Strip is set
	Strip       bool
	Rewrite     string        // put in front of the path after stripping
	Timeout     time.Duration // for the whole request; 0: none
	MaxBody     int64         // bytes; 0: no limit
	FlushAlways bool          // each piece of the answer goes out at once
	Mirror      *Mirror       // nil: none
}

// Handler returns the end of the chain for one route.
func (u *Upstream) Handler(o Options) http.Handler {
	return &handler{upstream: u, options: o}
}

type handler struct {
	upstream *Upstream
	options  Options
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ex := exchange.From(r.Context())
	if h.options.MaxBody > 0 {
		ex.LimitBody(h.options.MaxBody)
	}
	if ex.BodyLimit > 0 && r.ContentLength > ex.BodyLimit {
		refuse(ex, w, tooLarge)
		return
	}
	if ex.Explain != nil {
		h.explain(ex, w, r)
		return
	}
	if !h.upstream.Pool.Enter() {
		refuse(ex, w, overloaded)
		return
	}
	defer h.upstream.Pool.Leave()
	c := &call{exchange: ex, upstream: h.upstream}
	if h.upstream.Key != nil {
		c.key = h.upstream.Key(ex, r)
	}
	if c.backend = h.upstream.Pool.Pick(&c.attempt, c.key); c.backend == nil {
		refuse(ex, w, noBackend)
		return
	}
	if h.options.FlushAlways {
		ex.Writer.FlushAlways()
	}
	h.serve(c, w, r)
}

// refuse isn't inlined: problems are large, and would stand on the stack of every
// request that waits for its backend.
//
//go:noinline
func refuse(ex *exchange.Exchange, w http.ResponseWriter, why func() problem.Problem) {
	ex.Refuse(w, why())
}

func tooLarge() problem.Problem {
	return problem.Problem{Code: problem.BodyTooLarge, Detail: "Send a smaller body, or in parts.", Close: true}
}

func overloaded() problem.Problem {
	return problem.Problem{Code: problem.Overloaded, ProxyError: "connection_limit_reached", Detail: "The upstream has as many requests as it may have; try again later."}
}

func noBackend() problem.Problem {
	return problem.Problem{Code: problem.NoBackend, ProxyError: "destination_unavailable", Detail: "No backend can take the request at the moment."}
}

func (h *handler) serve(c *call, w http.ResponseWriter, r *http.Request) {
	ex := c.exchange
	if c.ctx = r.Context(); c.ctx != ex.Context() { // a filter's, which may end sooner
		defer context.AfterFunc(c.ctx, ex.Lane.End)()
	}
	c.path = route.Rewrite(ex.RawPath, h.options.Strip, h.options.Prefix, h.options.Rewrite)
	c.watch = watchdog{exchange: ex, cancel: ex.Cancel, total: h.options.Timeout, idle: h.upstream.Idle, alarms: &h.upstream.alarms}
	c.copy = h.options.Mirror.draw(r)
	if r.ContentLength != 0 {
		r = c.takeBody(r)
	}
	c.do(w, r)
	h.options.Mirror.send(c, r)
}

// takeBody returns r with a body that is counted, bounded and, where it is short enough, kept for further attempts.
func (c *call) takeBody(r *http.Request) *http.Request {
	ex := c.exchange
	r = r.WithContext(c.ctx) // a copy, whose body is another
	c.request = &requestBody{ReadCloser: r.Body, exchange: ex, limit: ex.BodyLimit, in: r.Trailer, watch: &c.watch}
	r.Body = c.request
	if r.ContentLength <= retry.MaxBody {
		c.body = retry.NewBody(c.request, r.ContentLength)
		c.rewind()
		r.GetBody = c.body.Open // net/http sends again what never went out
	}
	ex.Writer.ExtendDeadline() // 100 Continue is written by the first read of the body
	return r
}

package proxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/retry"
	"gatehouse/helper/server"
	"gatehouse/helper/transport"
	"gatehouse/helper/upstream"
)

// call is one request's call to its upstream: one attempt, or several. It belongs
// to the goroutine of the request, but for what its parts say otherwise.
type call struct {
	exchange *exchange.Exchange
	upstream *Upstream
	attempt  upstream.Attempt
	backend  *upstream.Backend // of this attempt
	key      uint64            // what it is chosen by
	ctx      context.Context
	path     string // the raw path for the backend
	watch    watchdog
	request  *requestBody       // nil without a body
	body     *retry.Body        // reads request, for each attempt anew; nil when there is none, or too much of it
	reader   io.ReadCloser      // this attempt's view of body
	copy     *copied            // nil: no mirror gets this request
	answer   answerBody         // set once the backend has answered
	upgraded *upgradedBody      // set instead of answer after an upgrade
	started  time.Time          // this attempt; the first one with the call
	tries    int                // attempts as the retry policy counts them
	stale    bool               // this attempt follows one on a connection that was being closed
	sending  *sending           // how far this attempt has come
	first    sending            // the first attempt's
	fields   *[]transport.Field // room for what requests get on their way, which is used again; nil: none yet
	lease    *time.Timer        // nil: the call is no trial, or has no body
	verdict  *verdict           // on the attempt, where err is set
	err      error              // why the attempt failed before an answer began
	ended    bool               // the answer's body ended, well or not
	cut      bool               // not well, for another reason than the client
}

func callOf(ctx context.Context) *call { return exchange.From(ctx).Call.(*call) }

// cause is why the call's context ends, nil before: the request has ended, or a filter ends it sooner.
func (c *call) cause() error { return cmp.Or(context.Cause(c.ctx), c.exchange.Cause()) }

// do makes the attempts and answers with a problem when the last one fails.
func (c *call) do(w http.ResponseWriter, r *http.Request) {
	ex := c.exchange
	ex.Call = c
	c.watch.begin()
	c.started = c.watch.start
	c.upstream.Budget.Request()
	defer func() { // also when httputil panics with ErrAbortHandler
		c.attempt.Release()
		c.watch.stop()
		c.endLease()
		c.request.end()
		c.settle()
		c.endSpan(ex.Code)
		c.keepFields()
	}()
	for c.try(w, r) {
	}
	if c.err != nil {
		c.refuse(w)
	}
}

// refuse answers with the problem of the last attempt.
func (c *call) refuse(w http.ResponseWriter) {
	ex := c.exchange
	ex.UpstreamTime = time.Since(c.watch.start)
	ex.Judge(c.verdict.outcome)
	ex.Refuse(w, c.verdict.problem)
	if c.verdict.problem.Code == problem.ClientClosed {
		panic(http.ErrAbortHandler) // a client that closed only its half would be told 200 by net/http
	}
}

// answerEnded is called when the body of the answer ends, with io.EOF when it
// is whole, and how long the call has taken.
func (c *call) answerEnded(err error, after time.Duration) {
	if c.ended {
		return
	}
	c.ended = true
	c.exchange.UpstreamTime = after
	if err == io.EOF { //nolint:errorlint // a wrapped one is no regular end
		return
	}
	c.exchange.Code = c.cutCode(err)
	c.cut = c.exchange.Code != problem.ClientClosed
}

// cutCode is the code of an answer that was cut after its header went out. A body
// of the request's that failed ends the answer too, with an error that seems to be
// the upstream's.
func (c *call) cutCode(err error) problem.Code {
	cause, fault := c.cause(), c.request.fault()
	switch {
	case errors.Is(fault, errBodyTooLarge):
		return problem.BodyTooLarge
	case timedOut(cause):
		return problem.UpstreamTimeout
	case errors.Is(cause, errClientStalled), errors.Is(cause, context.Canceled):
		return problem.ClientClosed
	case cause != nil:
		return problem.Draining
	case fault != nil:
		return problem.BadRequest
	}
	return upstreamFault(err).problem.Code
}

// settle fills in what is known only once the call has ended.
func (c *call) settle() {
	ex := c.exchange
	if c.request != nil {
		ex.BytesIn = c.request.read.Load()
	}
	if c.upgraded != nil {
		ex.BytesIn += c.upgraded.in.Load()
		ex.Writer.AddBytes(c.upgraded.out.Load())
		ex.UpstreamTime = time.Since(c.watch.start)
		if context.Cause(c.ctx) != nil {
			ex.Code = c.cutCode(nil)
		}
		return
	}
	if c.ended {
		ex.Writer.ExtendDeadline() // the end of the answer goes out behind the handler
	}
	if c.cut && ex.Writer.Started() { // a filter may hold it back
		ex.Writer.Flush() // net/http would drop the header, and what it has of the body, if that was short
	}
	if ex.Code == "" && (ex.Writer.Failed() || !c.ended && ex.Writer.Started()) {
		ex.Code = problem.ClientClosed // it took no more of the answer
		if errors.Is(c.cause(), server.ErrClosed) {
			ex.Code = problem.Draining // it couldn't
		}
	}
}

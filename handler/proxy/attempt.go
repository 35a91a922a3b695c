package proxy

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/retry"
)

// try makes one attempt and says whether another one follows.
func (c *call) try(w http.ResponseWriter, r *http.Request) bool {
	ex := c.exchange
	ex.Backend = c.backend.Name
	ex.Attempts++
	c.tries++
	c.begin(r)
	c.backend.Handler.ServeHTTP(w, r)
	return c.err != nil && c.failed(r)
}

// failed says whether another attempt follows one that failed.
func (c *call) failed(r *http.Request) bool {
	if c.err == errHeldBack { //nolint:errorlint // it comes from answered, as it is
		c.endSpan("")
		return c.pause()
	}
	v := c.acquit(r, classify(c.cause(), c.request, c.err))
	c.verdict = &v
	c.endSpan(c.verdict.problem.Code)
	failure := retry.Failure{Kind: c.verdict.kind, Method: r.Method}
	if c.metStaleConnection(failure) && c.rewind() {
		c.stale = true
		c.tries--
		c.backend.CloseIdle() // they are as old
		return true
	}
	c.tellFailure()
	c.report(c.verdict.outcome)
	return c.verdict.retryable && c.another(failure) && c.pause()
}

// begin makes everything ready for an attempt.
func (c *call) begin(r *http.Request) {
	c.err = nil
	if c.sending == nil {
		c.sending = &c.first
	} else {
		c.sending = new(sending) // what is left of an earlier attempt may still tell
		c.watch.touch()
		c.started = time.Now()
	}
	if c.body != nil {
		r.Body = c.reader
	}
	c.beginLease()
}

// report tells the pool what an attempt said about its backend.
func (c *call) report(o exchange.Outcome) {
	switch o {
	case exchange.Success:
		c.attempt.Success()
	case exchange.Failure:
		c.attempt.Failure()
	}
}

// another decides whether the failed attempt is made again, and if so takes a
// place in the backend for it: only then is it known that this attempt's answer
// isn't the last.
func (c *call) another(f retry.Failure) bool {
	policy := &c.upstream.Retry
	f.Attempt, f.Answered, f.Replayable = c.tries, c.exchange.Writer.Begun(), c.replayable(f.Kind)
	if !policy.Allows(f) || c.ctx.Err() != nil || c.watch.left() <= policy.LongestWait(c.tries) {
		return false
	}
	c.attempt.Release()
	next := c.upstream.Pool.Pick(&c.attempt, c.key)
	if next == nil {
		return false
	}
	if !c.upstream.Budget.Retry() {
		c.attempt.Release()
		c.upstream.Observer.BudgetExhausted()
		return false
	}
	if !c.rewind() {
		c.attempt.Release()
		return false
	}
	c.backend, c.stale = next, false
	c.upstream.Observer.Retried(reason(f))
	return true
}

// rewind makes the body ready to be sent, from its beginning. It fails when the
// failed attempt has read more of it meanwhile than is kept.
func (c *call) rewind() bool {
	if c.body == nil {
		return true
	}
	var err error
	c.reader, err = c.body.Open()
	return err == nil
}

// replayable says whether all of the request can be sent again. A body that isn't
// kept can when no connection was made to send it by.
func (c *call) replayable(kind retry.Kind) bool {
	switch {
	case c.request == nil:
		return true
	case c.body != nil:
		return c.body.Replayable()
	}
	return kind == retry.Connect && c.request.read.Load() == 0
}

// reason is a failure as the config spells it.
func reason(f retry.Failure) string {
	switch f.Kind {
	case retry.Connect:
		return "connect"
	case retry.Reset:
		return "reset"
	case retry.Timeout:
		return "timeout"
	default:
		return strconv.Itoa(f.Status)
	}
}

// pause waits before the next attempt; false means that there is none, since
// the request has ended meanwhile.
func (c *call) pause() bool {
	if err := c.upstream.Retry.Wait(c.ctx, c.tries); err != nil {
		c.err = err
		v := classify(c.cause(), c.request, err)
		c.verdict = &v
		return false
	}
	return true
}

// metStaleConnection says whether the attempt failed on a kept-alive connection
// that the backend was closing, which says nothing about the backend. It is made
// again once, whatever the limit of attempts, where sending twice does no harm: the
// method is idempotent (RFC 9110 section 9.2.2), or the operator says so.
func (c *call) metStaleConnection(f retry.Failure) bool {
	return c.verdict.retryable && f.Kind == retry.Reset && c.sending.reused && !c.stale &&
		(idempotent(f.Method) || slices.Contains(c.upstream.Retry.Methods, f.Method)) &&
		!c.exchange.Writer.Begun() && c.replayable(f.Kind)
}

func idempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}

package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/upstream"
)

// call is one request's call to its upstream. It belongs to the goroutine of
// the request, but for what its parts say otherwise.
type call struct {
	exchange *exchange.Exchange
	upstream *Upstream
	backend  *upstream.Backend
	ctx      context.Context
	path     string // the raw path for the backend
	watch    watchdog
	request  *requestBody  // nil without a body
	answer   answerBody    // set once the backend has answered
	upgraded *upgradedBody // set instead of answer after an upgrade
	started  time.Time
	err      error // why the attempt failed before an answer began
	ended    bool  // the answer's body ended, well or not
}

func callOf(ctx context.Context) *call { return exchange.From(ctx).Call.(*call) }

// do makes the attempt and answers with a problem when it fails.
func (c *call) do(w http.ResponseWriter, r *http.Request) {
	ex := c.exchange
	ex.Call = c
	ex.Backend = c.backend.Name
	ex.Attempts++
	c.started = time.Now()
	c.watch.begin()
	c.backend.Acquire()
	defer func() { // also when httputil panics with ErrAbortHandler
		c.backend.Release()
		c.watch.stop()
		c.request.end()
		c.settle()
	}()
	c.upstream.backends[c.backend].ServeHTTP(w, r)
	if c.err != nil {
		v := classify(c.ctx, c.request, c.err)
		ex.Judge(v.outcome)
		ex.Refuse(w, v.problem)
		if v.problem.Code == problem.ClientClosed {
			panic(http.ErrAbortHandler) // a client that closed only its half would be told 200 by net/http
		}
	}
}

// answered is called with the header of the backend's answer, before anything
// of it goes to the client. An error makes it a failed attempt.
func (c *call) answered(res *http.Response) error {
	if res.StatusCode == http.StatusSwitchingProtocols && !switchesAsAsked(res) {
		return errSwitchedUnasked
	}
	ex := c.exchange
	took := time.Since(c.started)
	c.watch.touch()
	c.upstream.Observer.Answered(c.backend, took)
	ex.UpstreamTime = took
	if c.upstream.Failing(res.StatusCode) {
		ex.Judge(exchange.Failure)
	} else {
		ex.Judge(exchange.Success)
	}
	ex.Scrub(res.Header)
	if res.StatusCode == http.StatusSwitchingProtocols {
		if stream, ok := res.Body.(io.ReadWriteCloser); ok {
			c.watch.lift()
			c.upgraded = &upgradedBody{ReadWriteCloser: stream, watch: &c.watch}
			res.Body = c.upgraded
		}
		return nil
	}
	if c.request != nil && !c.request.whole.Load() && res.Request.ProtoMajor == 1 { // a clone of the client's request
		// The answer must not wait until the client has sent its body, nor may
		// what is left of that be taken for the next request.
		_ = http.NewResponseController(ex.Writer.ResponseWriter).EnableFullDuplex()
		ex.Clientward.Set("Connection", "close")
	}
	c.answer = answerBody{ReadCloser: res.Body, call: c}
	res.Body = &c.answer
	return nil
}

// switchesAsAsked says whether a 101 switches to the protocol that the request
// asked for (RFC 9110 section 7.8).
func switchesAsAsked(res *http.Response) bool {
	asked := res.Request.Header.Get("Upgrade")
	if asked == "" || !strings.EqualFold(asked, res.Header.Get("Upgrade")) {
		return false
	}
	for _, line := range res.Header["Connection"] {
		for option := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(option), "upgrade") {
				return true
			}
		}
	}
	return false
}

// answerEnded is called when the body of the answer ends, with io.EOF when it
// is whole.
func (c *call) answerEnded(err error) {
	if c.ended {
		return
	}
	c.ended = true
	c.exchange.UpstreamTime = time.Since(c.started)
	if err == io.EOF { //nolint:errorlint // a wrapped one is no regular end
		return
	}
	c.exchange.Code = c.cutCode(err)
}

// cutCode is the code of an answer that was cut after its header went out.
func (c *call) cutCode(err error) problem.Code {
	cause := context.Cause(c.ctx)
	switch {
	case timedOut(cause):
		return problem.UpstreamTimeout
	case errors.Is(cause, errClientStalled), errors.Is(cause, context.Canceled):
		return problem.ClientClosed
	case cause != nil:
		return problem.Draining
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
		ex.UpstreamTime = time.Since(c.started)
		if context.Cause(c.ctx) != nil {
			ex.Code = c.cutCode(nil)
		}
		return
	}
	if c.ended {
		ex.Writer.ExtendDeadline() // the end of the answer goes out behind the handler
	}
	if ex.Code == "" && (ex.Writer.Failed() || !c.ended && ex.Writer.Started()) {
		ex.Code = problem.ClientClosed // it took no more of the answer
	}
}

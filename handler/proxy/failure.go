package proxy

import (
	"context"
	"strconv"

	"gatehouse/helper/problem"
)

// Failure is what an attempt failed by, at its backend or on the way to it.
type Failure struct {
	TraceID string
	Kind    string       // the error type of RFC 9209 section 2.3, or "status NNN"
	Code    problem.Code // "" where there is an answer
	Err     error        // nil where there is an answer; the text may name addresses, and is for logs alone
}

// tellFailure tells why the attempt got no answer, unless the client is why.
func (c *call) tellFailure() {
	p := &c.verdict.problem
	if p.ProxyError == "" {
		return
	}
	err := c.err
	if cause := context.Cause(c.ctx); cause != nil {
		err = cause // where net/http says no more than that it was cancelled
	}
	c.upstream.Observer.Failed(c.backend, Failure{TraceID: c.exchange.TraceID, Kind: p.ProxyError, Code: p.Code, Err: err})
}

// tellStatus tells that the attempt was answered with a status that speaks against
// the backend.
func (c *call) tellStatus(status int) {
	c.upstream.Observer.Failed(c.backend, Failure{TraceID: c.exchange.TraceID, Kind: "status " + strconv.Itoa(status)})
}

package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/transport"
)

// clientShare is the part of the request's time, one in so many, that the client
// may take to send the body: where it took more, it isn't known whether the
// upstream would have answered in time.
const clientShare = 10

// acquit looks again at a verdict against the upstream, by how far the attempt came:
// the upstream is to blame only when something of the request went to it or no
// connection could be made, and for the time that it had.
func (c *call) acquit(r *http.Request, v verdict) verdict {
	if v.outcome != exchange.Failure {
		return v
	}
	cause, stage := context.Cause(c.ctx), c.sending.stage.Load()
	switch {
	case errors.Is(cause, errRequestTimeout) && c.request.clientTime(time.Since(c.watch.start)) > c.watch.total/clientShare:
		return slowBody()
	case cause == nil && broken(c.err) && c.overdue(r.Header):
		return neutral(problem.Problem{Code: problem.UpstreamTimeout, Detail: "The call's own deadline is over."})
	case timedOut(cause) && (stage == connected || stage == connecting && c.attempt.Crowded()):
		return neutral(overloaded())
	case v.problem.Code != problem.UpstreamBadResponse:
		return v
	case stage == written && transport.Ended(c.sending.conn):
		return reset() // half a header looks like one that isn't well formed
	case stage == written || stage == connecting:
		return v
	case r.Header["Upgrade"] != nil:
		return neutral(problem.Problem{Code: problem.UpstreamBadResponse, ProxyError: "http_protocol_error", Detail: "The upstream can't switch protocols."})
	}
	return neutral(problem.Problem{Code: problem.BadRequest, Detail: "The request can't be forwarded as it is."})
}

func slowBody() verdict {
	return neutral(problem.Problem{Code: problem.BadRequest, Detail: "The request body came too slowly.", Close: true})
}

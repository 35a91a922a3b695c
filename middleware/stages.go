package middleware

import (
	"net/http"
	"slices"

	"go.uber.org/zap"

	"gatehouse/helper/breaker"
	"gatehouse/helper/exchange"
	"gatehouse/helper/route"
)

// Stage is one step of the chain: it decides about a request and hands it to
// the next handler, or answers it.
type Stage func(next http.Handler) http.Handler

// Route is what the stages need to know about one route, decided at load.
type Route struct {
	Name             string
	Upstream         string
	AllowUnusualPath bool
	CORS             *CORS // nil: the route has none
	Limits           Limits
	Breaker          *breaker.Breaker
	Authentication   *Authentication // nil: the route is open
	Filters          []Stage         // the route's own, in its order
	Explained        []Stage         // the same, for requests that are only asked about
	Proxy            http.Handler
	Observer         Observer
	Split            *Split // nil: the route has one upstream
}

// Observer counts what the stages of one route decide.
type Observer interface {
	exchange.Observer
	// Shadowed counts what a limit in shadow mode would have refused, by its code.
	Shadowed(code string)
	// QuotaRejected counts a request that a quota or plan refused; client is the
	// API key's id, "" without one.
	QuotaRejected(client string)
	// BreakerRefused is called for a request that the open breaker refused.
	BreakerRefused()
}

// Shared is what all routes have in common.
type Shared struct {
	Table *route.Table // its rules are the routes, in the same order
	Log   *zap.Logger
	Panic func() // called for each panic that recovery caught
}

// Chain is the whole way of a request through the gateway. THE ORDER IS FIXED:
//
//	recovery → upstream resolution → CORS → rate limit → circuit breaker →
//	access log → authentication, then the caller's quota → the route's filters →
//	reverse proxy
//
// CORS comes first because a preflight carries no credentials and must not
// spend the limit. The limit comes before any cryptography. The breaker comes
// before authentication so that a broken upstream costs nothing, which is why a
// refusal behind it gives its permit back unjudged.
//
// A stage answers what it refuses in a function of its own: what that needs of the
// stack isn't under the requests that go on. All stages and the call to the backend
// fit into 8 KB, and Go would make a larger stack small again in each run of the
// collector, and large with the next request.
func Chain(shared Shared, routes []Route) http.Handler {
	leaves := make([]http.Handler, len(routes))
	for i, r := range routes {
		leaves[i] = leaf(shared, r)
	}
	return through(
		recovery(shared.Log, shared.Panic),
		resolution(shared.Table, routes),
	)(dispatch(leaves))
}

// leaf is the way of one route's requests.
func leaf(shared Shared, r Route) http.Handler {
	if r.Split != nil {
		return r.Split.handler(func(arm Route) http.Handler { return leaf(shared, arm) })
	}
	return through(
		r.CORS.stage(),
		rateLimit(r.Limits, r.Observer),
		circuitBreaker(r.Breaker, r.Observer),
		accessLog(shared.Log),
		r.Authentication.stage(),
		quota(r.Limits, r.Observer),
		filters(r.Filters),
	)(r.Proxy)
}

// through makes one stage of several; the first is the outermost.
func through(stages ...Stage) Stage {
	return func(next http.Handler) http.Handler {
		for _, stage := range slices.Backward(stages) {
			if stage != nil {
				next = stage(next)
			}
		}
		return next
	}
}

// filters is the place of the route's own filters in the order.
func filters(own []Stage) Stage { return through(own...) }

// dispatch hands the request to the leaf of the route that resolution found.
func dispatch(leaves []http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaves[exchange.From(r.Context()).RouteIndex].ServeHTTP(w, r)
	})
}

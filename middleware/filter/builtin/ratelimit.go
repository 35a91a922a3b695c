package builtin

import (
	"fmt"
	"net/http"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/limit"
	"gatehouse/helper/problem"
	"gatehouse/middleware/filter"
)

// rateLimit is one bucket for the requests of the route that come as far as this filter. It holds a second's worth, and at
// least one. A route's limit and quota are what to reach for first; this counts only what the filters before it let through.
func rateLimit(limits Limits) func(filter.Use) (filter.Filter, error) {
	return func(use filter.Use) (filter.Filter, error) {
		events, period, err := use.Argument.Rate()
		if err != nil {
			return nil, err
		}
		name := "filter:" + use.Route
		rule, err := limit.NewRule(name, events, period, max(1, events/int(period/time.Second)))
		if err != nil { // a Rate always makes a rule
			return nil, fmt.Errorf("the argument makes no limit: %w", err)
		}
		key := rule.Key(limit.SharedSubject(name))
		policy := rule.Policy()
		return filter.Func(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ex := exchange.From(r.Context())
				demands := []limit.Demand{{Rule: rule, Key: key, Look: ex.Explain != nil, Calls: ex.Calls()}}
				limits.Decide(demands)
				if ex.Explain != nil {
					ex.Explain.NoteLimit(name, "all requests", demands[0])
				}
				decision := demands[0].Decision
				ex.TellLimit(decision, policy)
				if !decision.Allowed {
					ex.Limited = name
					ex.Refuse(w, problem.Problem{Code: problem.RateLimited, Detail: "Wait as long as Retry-After says and try again.", RetryAfter: decision.RetryAfter})
					return
				}
				next.ServeHTTP(w, r)
			})
		}), nil
	}
}

package middleware

import (
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/helper/identity"
	"gatehouse/helper/problem"
)

// rateLimit lets a request through when each limit that counts before
// authentication has a token for it. A refused request takes none.
func rateLimit(limits Limits, observer Observer) Stage {
	limiter := newLimiter(limits.Store, observer, problem.RateLimited)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if len(limits.Before) == 0 || limiter.allows(w, r, limits.Before, nil) {
				observer.Accept()
				next.ServeHTTP(w, r)
			}
		})
	}
}

// quota does the same for the limits that count after authentication. It is nil
// for a route without any.
func quota(limits Limits, observer Observer) Stage {
	if len(limits.Quotas) == 0 && len(limits.Plans) == 0 {
		return nil
	}
	limiter := newLimiter(limits.Store, observer, problem.QuotaExceeded)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			plan := limits.plan(exchange.From(r.Context()).Principal)
			if plan == nil && len(limits.Quotas) == 0 || limiter.allows(w, r, limits.Quotas, plan) {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// plan is the limit of the caller's plan, nil for none. A name that no plan has is
// as good as no name: a token must not free its bearer of the limit.
func (l *Limits) plan(caller *identity.Principal) *Limit {
	if caller == nil {
		return nil
	}
	if plan := l.Plans[caller.Plan]; plan != nil {
		return plan
	}
	return l.Plans[DefaultPlan]
}

func client(caller *identity.Principal) string {
	if caller == nil {
		return ""
	}
	return caller.Client
}

// allows says whether every limit has a token for the request; it tells what they
// said, and answers a request that is refused. plan may be nil.
func (l *limiter) allows(w http.ResponseWriter, r *http.Request, limits []*Limit, plan *Limit) bool {
	ex := exchange.From(r.Context())
	v := l.judge(ex, r, limits, plan)
	l.note(ex, v)
	if v.by == nil || v.strictest.Allowed {
		return true
	}
	if l.code == problem.RateLimited {
		l.observer.Reject()
	} else {
		l.observer.QuotaRejected(client(ex.Principal))
	}
	ex.Limited = v.by.name
	ex.Refuse(w, problem.Problem{Code: l.code, Detail: "Wait as long as Retry-After says and try again.", RetryAfter: v.strictest.RetryAfter})
	return false
}

// note tells what the limits said: to the client, if it is stricter than what
// earlier ones said, and to the log and the metrics.
func (l *limiter) note(ex *exchange.Exchange, v verdict) {
	if v.shadowed != nil {
		l.observer.Shadowed(string(l.code))
		if ex.Limited == "" {
			ex.Limited = v.shadowed.name
		}
	}
	if v.by != nil {
		ex.TellLimit(v.strictest, v.by.policy)
	}
}

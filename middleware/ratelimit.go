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
	limiter := newLimiter(limits.Store)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if len(limits.Before) > 0 {
				ex := exchange.From(r.Context())
				v := limiter.judge(ex, r, limits.Before, nil)
				v.note(ex, observer, problem.RateLimited)
				if v.refused() {
					observer.Reject()
					v.refuse(ex, w, problem.RateLimited)
					return
				}
			}
			observer.Accept()
			next.ServeHTTP(w, r)
		})
	}
}

// quota does the same for the limits that count after authentication. It is nil
// for a route without any.
func quota(limits Limits, observer Observer) Stage {
	if len(limits.Quotas) == 0 && len(limits.Plans) == 0 {
		return nil
	}
	limiter := newLimiter(limits.Store)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			plan := limits.plan(ex.Principal)
			if plan == nil && len(limits.Quotas) == 0 {
				next.ServeHTTP(w, r)
				return
			}
			v := limiter.judge(ex, r, limits.Quotas, plan)
			v.note(ex, observer, problem.QuotaExceeded)
			if v.refused() {
				observer.QuotaRejected(client(ex.Principal))
				v.refuse(ex, w, problem.QuotaExceeded)
				return
			}
			next.ServeHTTP(w, r)
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

func (v verdict) refused() bool { return v.by != nil && !v.strictest.Allowed }

// note tells what the limits said: to the client, if it is stricter than what
// earlier ones said, and to the log and the metrics.
func (v verdict) note(ex *exchange.Exchange, observer Observer, code problem.Code) {
	if v.shadowed != nil {
		observer.Shadowed(string(code))
		if ex.Limited == "" {
			ex.Limited = v.shadowed.name
		}
	}
	if v.by != nil {
		ex.TellLimit(v.strictest, v.by.policy)
	}
}

func (v verdict) refuse(ex *exchange.Exchange, w http.ResponseWriter, code problem.Code) {
	ex.Limited = v.by.name
	ex.Refuse(w, problem.Problem{Code: code, Detail: "Wait as long as Retry-After says and try again.", RetryAfter: v.strictest.RetryAfter})
}

package middleware

import (
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/helper/limit"
	"gatehouse/helper/problem"
)

// Limiter is one limit that a request must keep to before authentication.
type Limiter interface {
	// Name stands in the access log of a request that it refused.
	Name() string
	// Take asks for a token.
	Take(*exchange.Exchange) limit.Decision
	// Return gives an allowed token back, because another limit refused.
	Return(*exchange.Exchange)
}

// SharedLimit is one bucket for everybody: an upstream's or a route's limit.
func SharedLimit(name string, bucket *limit.Bucket) Limiter { return sharedLimit{name, bucket} }

type sharedLimit struct {
	name   string
	bucket *limit.Bucket
}

func (l sharedLimit) Name() string                           { return l.name }
func (l sharedLimit) Take(*exchange.Exchange) limit.Decision { return l.bucket.Take() }
func (l sharedLimit) Return(*exchange.Exchange)              { l.bucket.Return() }

// AddressLimit is one bucket per client address, IPv6 by /64.
func AddressLimit(name string, rule limit.Rule, store *limit.Local) Limiter {
	return addressLimit{name, rule, store}
}

type addressLimit struct {
	name  string
	rule  limit.Rule
	store *limit.Local
}

func (l addressLimit) Name() string { return l.name }

func (l addressLimit) Take(ex *exchange.Exchange) limit.Decision {
	return l.store.Take(l.rule, l.rule.AddrKey(ex.Client.Addr))
}

func (l addressLimit) Return(ex *exchange.Exchange) {
	l.store.Return(l.rule, l.rule.AddrKey(ex.Client.Addr))
}

// rateLimit lets a request through when every limit has a token for it. A
// refused request takes none: what the limits before the refusing one gave goes
// back.
func rateLimit(limits []Limiter, observer Observer) Stage {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if len(limits) > 0 {
				ex := exchange.From(r.Context())
				decision, refusing := takeAll(limits, ex)
				header := decision.Header()
				ex.Clientward.Set("Ratelimit-Limit", header.Limit)
				ex.Clientward.Set("Ratelimit-Remaining", header.Remaining)
				ex.Clientward.Set("Ratelimit-Reset", header.Reset)
				if refusing != nil {
					ex.Limited = refusing.Name()
					observer.Reject()
					ex.Refuse(w, problem.Problem{Code: problem.RateLimited, Detail: "Wait as long as Retry-After says and try again.", RetryAfter: decision.RetryAfter})
					return
				}
			}
			observer.Accept()
			next.ServeHTTP(w, r)
		})
	}
}

// takeAll takes a token of each limit, or of none. The decision is the one that
// the client must hear about.
func takeAll(limits []Limiter, ex *exchange.Exchange) (decision limit.Decision, refusing Limiter) {
	for i, l := range limits {
		d := l.Take(ex)
		if !d.Allowed {
			for _, given := range limits[:i] {
				given.Return(ex)
			}
			return d, l
		}
		if i == 0 {
			decision = d
		} else {
			decision = limit.Strictest(decision, d)
		}
	}
	return decision, nil
}

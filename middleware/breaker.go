package middleware

import (
	"net/http"

	"gatehouse/helper/breaker"
	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
)

// circuitBreaker asks the upstream's breaker for a permit. The proxy reports on
// it, at the header of the upstream's answer; every other way out, a panic too,
// gives it back unjudged.
func circuitBreaker(b *breaker.Breaker, observer Observer) Stage {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			if !admitted(b, ex) {
				refuse(w, ex, b, observer)
				return
			}
			defer ex.Permit.Neutral()
			next.ServeHTTP(w, r)
		})
	}
}

func refuse(w http.ResponseWriter, ex *exchange.Exchange, b *breaker.Breaker, observer Observer) {
	observer.BreakerRefused()
	ex.Refuse(w, problem.Problem{Code: problem.BreakerOpen, ProxyError: "destination_unavailable", RetryAfter: b.RetryAfter(), Detail: pause(b)})
}

func pause(b *breaker.Breaker) string {
	if b.Forced() {
		return "The upstream is taken out by an operator; try again after Retry-After."
	}
	return "The upstream keeps failing and gets a pause; try again after Retry-After."
}

// admitted takes a permit. A request that is only asked about takes none.
func admitted(b *breaker.Breaker, ex *exchange.Exchange) bool {
	if ex.Explain == nil {
		return b.Acquire(&ex.Permit)
	}
	admits := b.Admits()
	ex.Explain.NoteBreaker(b.State().String(), admits, b.RetryAfter())
	return admits
}

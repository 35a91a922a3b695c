package main

import (
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/middleware/filter"
)

// newIdempotencyKey makes a filter that refuses a POST without an Idempotency-Key, so that no client can forget it, and tells
// the service who is behind the key. Its argument bounds the key's size.
func newIdempotencyKey(use filter.Use) (filter.Filter, error) {
	longest, err := use.Argument.Size()
	if err != nil {
		return nil, err
	}
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			keys := r.Header["Idempotency-Key"]
			if r.Method == http.MethodPost && (len(keys) != 1 || keys[0] == "" || int64(len(keys[0])) > longest) {
				ex.Refuse(w, problem.Problem{Code: problem.BadRequest, Detail: "Send one Idempotency-Key, so that a repeated order counts once."})
				return
			}
			subject := "anybody"
			if ex.Principal != nil {
				subject = ex.Principal.Subject
			}
			ex.Upstreamward.Set("X-Idempotency-Scope", subject)
			next.ServeHTTP(w, r)
		})
	}), nil
}

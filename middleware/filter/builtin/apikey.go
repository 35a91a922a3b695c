package builtin

import (
	"errors"
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/middleware/filter"
)

// apiKey makes sure that the caller has shown an API key. The keys are checked by authentication, where a route's auth says
// so; on a route that takes tokens too, this narrows it to keys. A use that would look like protection, on a route that
// checks no keys, is an error.
func apiKey(use filter.Use) (filter.Filter, error) {
	if err := use.Argument.None(); err != nil {
		return nil, err
	}
	if use.Auth != "api_key" && use.Auth != "any" {
		return nil, errors.New("the route checks no API keys: write auth: api_key, or auth: any")
	}
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			if ex.Principal == nil || ex.Principal.Client == "" {
				ex.Refuse(w, problem.Problem{Code: problem.APIKeyInvalid, Detail: "This route takes an API key, not a token.", Authenticate: challenge})
				return
			}
			next.ServeHTTP(w, r)
		})
	}), nil
}

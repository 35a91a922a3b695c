package builtin

import (
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/middleware/filter"
)

// bodyLimit keeps the request's body to a size, below the route's own limit. The proxy holds it: a body that is declared
// larger is refused before an upstream is asked, one that turns out larger is cut.
func bodyLimit(use filter.Use) (filter.Filter, error) {
	size, err := use.Argument.Size()
	if err != nil {
		return nil, err
	}
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			exchange.From(r.Context()).LimitBody(size)
			next.ServeHTTP(w, r)
		})
	}), nil
}

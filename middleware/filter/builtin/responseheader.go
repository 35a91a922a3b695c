package builtin

import (
	"errors"
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/middleware/filter"
)

// setResponseHeader sets a header of every answer from here on, the upstream's and the gateway's own. Where a refusal has the
// same header, such as Cache-Control, the refusal's stands.
func setResponseHeader(use filter.Use) (filter.Filter, error) {
	name, value, err := use.Argument.HeaderField()
	if err == nil {
		err = answers().check(name)
	}
	if err != nil {
		return nil, err
	}
	return clientward(func(q *exchange.Headers) { q.Set(name, value) }), nil
}

// removeResponseHeader takes a header of the upstream's answers away.
func removeResponseHeader(use filter.Use) (filter.Filter, error) {
	name, err := use.Argument.HeaderName()
	if err == nil {
		err = answers().check(name)
	}
	if err != nil {
		return nil, err
	}
	if name == "Content-Type" || name == "Date" {
		return nil, errors.New(name + " can't be removed, as the server would write one of its own: set it instead")
	}
	return clientward(func(q *exchange.Headers) { q.Remove(name) }), nil
}

func clientward(queue func(*exchange.Headers)) filter.Filter {
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			queue(&exchange.From(r.Context()).Clientward)
			next.ServeHTTP(w, r)
		})
	})
}

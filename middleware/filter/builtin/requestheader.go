package builtin

import (
	"net/http"

	"gatehouse/helper/exchange"
	"gatehouse/helper/field"
	"gatehouse/middleware/filter"
)

// setRequestHeader sets a header for the upstream, whatever the client sent under its name in any spelling.
func setRequestHeader(r reserved) func(filter.Use) (filter.Filter, error) {
	return func(use filter.Use) (filter.Filter, error) {
		name, value, err := use.Argument.HeaderField()
		if err == nil {
			err = r.check(name)
		}
		if err != nil {
			return nil, err
		}
		return upstreamward(name, func(q *exchange.Headers) { q.Set(name, value) }), nil
	}
}

// removeRequestHeader takes a header of the client away, in any spelling.
func removeRequestHeader(r reserved) func(filter.Use) (filter.Filter, error) {
	return func(use filter.Use) (filter.Filter, error) {
		name, err := use.Argument.HeaderName()
		if err == nil {
			err = r.check(name)
		}
		if err != nil {
			return nil, err
		}
		return upstreamward(name, func(*exchange.Headers) {}), nil
	}
}

// upstreamward takes name away in every spelling that some server would take for it, and then queues what then queues.
func upstreamward(name string, then func(*exchange.Headers)) filter.Filter {
	plain := field.Plain(name)
	return filter.Func(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			queue := &exchange.From(r.Context()).Upstreamward
			queue.Remove(name)
			for sent := range r.Header {
				if sent != name && field.Plain(sent) == plain {
					queue.Remove(sent)
				}
			}
			then(queue)
			next.ServeHTTP(w, r)
		})
	})
}

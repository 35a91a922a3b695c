// Package filter says what a filter is: one step that a route adds to the chain, after authentication and before the proxy.
// The ones that come with the gateway are in middleware/filter/builtin; docs/filters.md shows how to write another and
// compile it in.
//
// A filter reads the inbound request and never changes it for the upstream. What it wants the upstream or the client to see
// it queues in the request's exchange (Upstreamward, Clientward), and it refuses with exchange.Refuse, so that its answer
// has a code, a trace id, a count and a log line like every other:
//
//	filter.Factory{Name: "office_hours", New: func(use filter.Use) (filter.Filter, error) {
//		if err := use.Argument.None(); err != nil {
//			return nil, err
//		}
//		return filter.Func(func(next http.Handler) http.Handler { … }), nil
//	}}
//
// Guaranteed: a filter is made at load, once for each place in which the configuration names it. A reload that leaves a route's
// filters as they are keeps them, with their state, and wraps the new handler in them too. One that is an io.Closer is closed
// once, after its last request, also when the configuration is refused after all. Two factories of the same name are an error,
// never an override. Factories are called one at a time.
//
// Not guaranteed: which requests a filter sees. A stage or filter before it may have answered. Checking a configuration makes
// its filters and closes them again: a factory must not do what can't be done twice.
//
// A filter serves any number of requests at the same time. A Registry and an Argument don't change and may be used from any
// goroutine.
package filter

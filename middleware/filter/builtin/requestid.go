package builtin

import "gatehouse/middleware/filter"

// requestID says in the configuration what holds on every route: each request has an id, which its answer, its log line and
// its upstream get. It must be known before anything can be refused, so the gateway gives it, not a filter.
func requestID(use filter.Use) (filter.Filter, error) {
	return filter.Func(asItIs), use.Argument.None()
}

package builtin

import "gatehouse/middleware/filter"

// stripIdentity says in the configuration what holds on every route: identity headers that a client sent never reach an
// upstream. The proxy takes them away in every spelling, whatever the filters do, and then sets what the gateway queued.
func stripIdentity(use filter.Use) (filter.Filter, error) {
	return filter.Func(asItIs), use.Argument.None()
}

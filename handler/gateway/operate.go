package gateway

import (
	"fmt"

	"go.uber.org/zap"

	"gatehouse/helper/breaker"
)

// SetBreaker holds an upstream's breaker open or closed, or lets its results
// decide again: state is open, closed or auto. It stays so until it is set
// again, also over reloads that don't change the breaker's settings.
func (g *Gateway) SetBreaker(name, state string) error {
	override, ok := map[string]breaker.Override{"auto": breaker.Auto, "open": breaker.ForcedOpen, "closed": breaker.ForcedClosed}[state]
	if !ok {
		return fmt.Errorf("state %q: write open, closed or auto", state)
	}
	for _, u := range g.current.Load().upstreams {
		if u.Name == name {
			u.breaker.Force(override)
			g.deps.Log.Warn("breaker set by an operator", zap.String("upstream", name), zap.String("state", state))
			return nil
		}
	}
	return &UnknownError{Kind: "upstream", Name: name}
}

// DrainBackend takes a backend out of its upstream, or back into it: it gets no
// new request, and those in flight finish. url is as configured. It stays so until
// it is said otherwise, also over reloads that keep the backend.
func (g *Gateway) DrainBackend(name, url string, drain bool) error {
	pool := g.current.Load().pool(name)
	if pool == nil {
		return &UnknownError{Kind: "upstream", Name: name}
	}
	found := false
	for _, b := range pool.Backends() {
		if b.Name == url { // one, or each address of its host
			b.Drain(drain)
			found = true
		}
	}
	if !found {
		return &UnknownError{Kind: "backend", Name: url}
	}
	what := "backend drained by an operator"
	if !drain {
		what = "backend taken back by an operator"
	}
	g.deps.Log.Warn(what, zap.String("upstream", name), zap.String("backend", url))
	return nil
}

// UnknownError says that the configuration has no such thing.
type UnknownError struct{ Kind, Name string }

func (e *UnknownError) Error() string { return "there is no " + e.Kind + " " + e.Name }

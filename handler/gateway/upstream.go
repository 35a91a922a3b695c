package gateway

import (
	"fmt"
	"strconv"
	"time"

	"gatehouse/handler/proxy"
	"gatehouse/helper/breaker"
	"gatehouse/helper/config"
	"gatehouse/helper/retry"
	"gatehouse/helper/upstream"
	"gatehouse/middleware"
)

// builtUpstream is what the routes of one upstream share.
type builtUpstream struct {
	proxy    *proxy.Upstream
	breaker  *breaker.Breaker
	limit    *middleware.Limit // nil: none
	observer UpstreamObserver
}

// upstream compiles one upstream.
func (b *builder) upstream(name string) error {
	u := b.cfg.Upstreams[name]
	built := &builtUpstream{}
	var err error
	if built.breaker, err = b.breaker(name, u.Breaker); err != nil {
		return err
	}
	built.observer = keep(b, b.deps.Observer.Upstream(name, func() int { return int(built.breaker.State()) }))
	if u.Limit.Rate.Events > 0 {
		if built.limit, err = newLimit("upstream:"+name, u.Limit.Rate, u.Limit.Burst, middleware.Together("upstream:"+name), ""); err != nil {
			return fmt.Errorf("upstreams.%s.limit: %w", name, err)
		}
	}
	budget, err := shared(b, fmt.Sprintf("budget %s %v", name, u.Retry.Budget), func() (*retry.Budget, func(), error) {
		return retry.NewBudget(u.Retry.Budget), nil, nil
	})
	if err != nil {
		return err
	}
	backends, err := b.pool(name, u, budget)
	if err != nil {
		return err
	}
	built.proxy = &proxy.Upstream{
		Pool: backends.Pool, Guard: b.guard, Consumed: b.consumed, Host: hostPolicy(u.Host), Idle: time.Duration(u.Timeouts.Idle), Lease: time.Duration(u.Timeouts.ResponseHeader),
		Failing: u.Breaker.Statuses.Contains, Retry: retryPolicy(u.Retry), Budget: budget, Key: hashKey(u.HashBy),
		Observer: callObserver{keep(b, b.deps.Observer.Retries(name, u.Retry.On)), backends, b.deps.Observer.Spoof},
	}
	b.upstreams[name] = built
	b.snapshot.upstreams = append(b.snapshot.upstreams, UpstreamInfo{
		Name: name, breaker: built.breaker, pool: built.proxy,
	})
	return nil
}

// breaker is the upstream's breaker; with the same settings it keeps its state.
// It counts its transitions itself, because it outlives the snapshots.
func (b *builder) breaker(name string, c config.Breaker) (*breaker.Breaker, error) {
	key := fmt.Sprintf("breaker %s %d %d %d", name, c.Failures, c.OpenFor, c.HalfOpenRequests)
	return shared(b, key, func() (*breaker.Breaker, func(), error) {
		var made *breaker.Breaker
		counts := b.deps.Observer.Upstream(name, func() int { return int(made.State()) })
		made = breaker.New(breaker.Options{
			Failures: c.Failures, OpenFor: time.Duration(c.OpenFor), HalfOpenRequests: c.HalfOpenRequests,
			OnTransition: func(_, to breaker.State) { counts.Transition(int(to)) },
		})
		return made, counts.Remove, nil
	})
}

func retryPolicy(c config.Retry) retry.Policy {
	policy := retry.Policy{
		Attempts: c.Attempts, Methods: c.Methods, UnsafeOnConnect: c.UnsafeOnConnect, Backoff: time.Duration(c.Backoff),
	}
	kinds := map[string]retry.Kind{"connect": retry.Connect, "reset": retry.Reset, "timeout": retry.Timeout}
	for _, reason := range c.On {
		kind, named := kinds[reason]
		if !named {
			status, _ := strconv.Atoi(reason) // helper/config has checked it
			kind, policy.Statuses = retry.Status, append(policy.Statuses, status)
		}
		policy.On = append(policy.On, kind)
	}
	return policy
}

func hostPolicy(host string) proxy.Host {
	switch host {
	case hostBackend:
		return proxy.Host{}
	case hostClient:
		return proxy.Host{Client: true}
	}
	return proxy.Host{Literal: host}
}

// callObserver translates the proxy's reports into the metrics' handles.
type callObserver struct {
	RetryObserver
	pool  *pool
	spoof func()
}

func (o callObserver) Answered(b *upstream.Backend, d time.Duration) {
	o.pool.backends[b.Name].Observe(d)
}
func (o callObserver) Failed(b *upstream.Backend, f proxy.Failure) { o.pool.failed(b, f) }
func (o callObserver) Spoofed()                                    { o.spoof() }

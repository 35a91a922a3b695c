package gateway

import (
	"fmt"
	"time"

	"gatehouse/handler/proxy"
	"gatehouse/helper/breaker"
	"gatehouse/helper/config"
	"gatehouse/helper/transport"
	"gatehouse/helper/upstream"
	"gatehouse/middleware"
)

// builtUpstream is what the routes of one upstream share.
type builtUpstream struct {
	proxy    *proxy.Upstream
	breaker  *breaker.Breaker
	limit    middleware.Limiter // nil: none
	observer UpstreamObserver
}

// upstream compiles one upstream; its errors begin with the rest of the key.
func (b *builder) upstream(name string) error {
	u := b.cfg.Upstreams[name]
	built := &builtUpstream{}
	var err error
	if built.breaker, err = b.breaker(name, u.Breaker); err != nil {
		return err
	}
	built.observer = keep(b, b.deps.Observer.Upstream(name, func() int { return int(built.breaker.State()) }))
	if u.Limit.Rate.Events > 0 {
		bucket, err := b.bucket("upstream:"+name, u.Limit.Rate, u.Limit.Burst)
		if err != nil {
			return fmt.Errorf(".%w", err)
		}
		built.limit = middleware.SharedLimit("upstream:"+name, bucket)
	}
	observer := &callObserver{spoof: b.deps.Observer.Spoof, backends: make(map[*upstream.Backend]BackendObserver)}
	var backends []*upstream.Backend
	var weights []int
	for _, configured := range u.Backends {
		backend, err := b.backend(name, configured.URL, u)
		if err != nil {
			return err
		}
		observer.backends[backend] = keep(b, b.deps.Observer.Backend(name, backend.Name, backend.InFlight))
		backends, weights = append(backends, backend), append(weights, configured.Weight)
	}
	built.proxy = (&proxy.Upstream{
		Pool: upstream.NewPool(backends, weights), Guard: b.guard, Consumed: b.consumed, Host: hostPolicy(u.Host), Idle: time.Duration(u.Timeouts.Idle),
		Failing: u.Breaker.Statuses.Contains, Observer: observer,
	}).Prepare()
	b.upstreams[name] = built
	b.snapshot.upstreams = append(b.snapshot.upstreams, UpstreamInfo{
		Name: name, state: func() string { return built.breaker.State().String() }, pool: built.proxy,
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

// backend is one backend with its connections; with the same settings it keeps
// them, and what it knows of the server's health.
func (b *builder) backend(name, url string, u config.Upstream) (*upstream.Backend, error) {
	files, err := readTLS(u.TLS)
	if err != nil {
		return nil, fmt.Errorf(".tls.%w", err)
	}
	key := fmt.Sprintf("backend %s %s %v %v %v %x", name, url, u.Timeouts, u.Connections, u.TLS, files.hash())
	return shared(b, key, func() (*upstream.Backend, func(), error) {
		tlsConfig, err := files.config(u.TLS)
		if err != nil {
			return nil, nil, fmt.Errorf(".tls.%w", err)
		}
		t := transport.New(transport.Options{
			Connect: time.Duration(u.Timeouts.Connect), ResponseHeader: time.Duration(u.Timeouts.ResponseHeader),
			IdleConn: time.Duration(u.Connections.IdleTimeout), MaxIdle: u.Connections.MaxIdle, MaxConns: u.Connections.Max, TLS: tlsConfig,
		})
		made, err := upstream.NewBackend(url, t)
		if err != nil {
			return nil, nil, fmt.Errorf(": %w", err)
		}
		return made, t.CloseIdleConnections, nil
	})
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
	spoof    func()
	backends map[*upstream.Backend]BackendObserver
}

func (o *callObserver) Answered(b *upstream.Backend, d time.Duration) { o.backends[b].Observe(d) }
func (o *callObserver) Spoofed()                                      { o.spoof() }

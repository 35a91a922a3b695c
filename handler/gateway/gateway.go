package gateway

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/proxy"
	"gatehouse/helper/clientip"
	"gatehouse/helper/exchange"
	"gatehouse/helper/limit"
	"gatehouse/logger"
	"gatehouse/middleware"
)

// Observer is told what happens, for the metrics. Its methods may be called
// concurrently.
type Observer interface {
	middleware.AuthObserver
	// Route, Upstream and Backend give the handles of what the configuration
	// names, once each, at build time.
	Route(upstream, route string) RouteObserver
	Upstream(name string, state func() int) UpstreamObserver
	Backend(upstream, url string, inFlight func() int64) BackendObserver
	Provider(name string)
	// Unmatched is for requests without a route.
	Unmatched() RouteObserver

	InFlight(delta int64)
	Panic()
	Spoof()
}

// RouteObserver counts for one route.
type RouteObserver interface{ exchange.Observer }

// UpstreamObserver counts for one upstream's breaker.
type UpstreamObserver interface {
	Refused()
	Transition(to int)
}

// BackendObserver counts for one backend.
type BackendObserver interface {
	Observe(time.Duration)
}

// Deps are what a gateway uses and doesn't own.
type Deps struct {
	Log      *zap.Logger
	Access   *logger.Access
	Observer Observer
}

// Gateway is the handler of the public listener.
type Gateway struct {
	handler   http.Handler
	access    *logger.Access
	observer  Observer
	unmatched RouteObserver
	clients   *clientip.Resolver
	buckets   *limit.Local
	writeIdle time.Duration
	routes    []RouteInfo
	upstreams []UpstreamInfo
	close     []func()

	inFlight atomic.Int64
	draining atomic.Bool
	idle     chan struct{} // gets a value when the last request has ended
}

// RouteInfo describes one route to a person.
type RouteInfo struct {
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Methods  []string `json:"methods,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
	Upstream string   `json:"upstream"`
	Auth     string   `json:"auth"`
	Scopes   []string `json:"scopes,omitempty"`
}

// Routes lists the routes in the order of the configuration.
func (g *Gateway) Routes() []RouteInfo { return g.routes }

// UpstreamInfo describes one upstream as it is now.
type UpstreamInfo struct {
	Name     string        `json:"name"`
	Breaker  string        `json:"breaker"`
	Backends []BackendInfo `json:"backends"`

	state func() string
	pool  *proxy.Upstream
}

// BackendInfo describes one backend as it is now.
type BackendInfo struct {
	URL      string `json:"url"`
	InFlight int64  `json:"in_flight"`
}

// Upstreams lists the upstreams, by name, with their state at this moment.
func (g *Gateway) Upstreams() []UpstreamInfo {
	now := make([]UpstreamInfo, len(g.upstreams))
	for i, u := range g.upstreams {
		u.Breaker = u.state()
		for _, b := range u.pool.Pool.Backends() {
			u.Backends = append(u.Backends, BackendInfo{URL: b.Name, InFlight: b.InFlight()})
		}
		now[i] = u
	}
	return now
}

// Run does the work that isn't done by requests, until ctx ends.
func (g *Gateway) Run(ctx context.Context) error {
	defer func() {
		for _, end := range g.close {
			end()
		}
	}()
	return g.buckets.Run(ctx)
}

// InFlight is how many requests are being served, upgraded connections
// included.
func (g *Gateway) InFlight() int64 { return g.inFlight.Load() }

// Drain makes every answer from now on say Connection: close, so that clients
// open their next connection elsewhere.
func (g *Gateway) Drain() { g.draining.Store(true) }

// Wait returns when no request is in flight, or with ctx's error.
func (g *Gateway) Wait(ctx context.Context) error {
	for g.inFlight.Load() > 0 {
		select {
		case <-g.idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

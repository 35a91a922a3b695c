package gateway

import (
	"fmt"

	"gatehouse/handler/proxy"
	"gatehouse/helper/breaker"
	"gatehouse/helper/config"
	"gatehouse/helper/upstream"
)

// RouteInfo describes one route to a person.
type RouteInfo struct {
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Methods  []string `json:"methods,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
	Upstream string   `json:"upstream"` // where the route is split: NAME:WEIGHT, separated by commas
	Auth     string   `json:"auth"`
	Scopes   []string `json:"scopes,omitempty"`
}

func routeInfo(r *config.Route) RouteInfo {
	target := r.Upstream
	for i, arm := range r.Split {
		if i > 0 {
			target += ","
		}
		target += fmt.Sprintf("%s:%d", arm.Upstream, arm.Weight)
	}
	return RouteInfo{Name: r.Name, Path: r.Path, Methods: r.Methods, Hosts: r.Hosts, Upstream: target, Auth: r.Auth, Scopes: r.Scopes}
}

// Routes lists the routes in the order of the configuration.
func (g *Gateway) Routes() []RouteInfo { return g.current.Load().routes }

// UpstreamInfo describes one upstream as it is now.
type UpstreamInfo struct {
	Name     string        `json:"name"`
	Breaker  string        `json:"breaker"`
	Backends []BackendInfo `json:"backends"`

	breaker *breaker.Breaker
	pool    *proxy.Upstream
}

// BackendInfo describes one backend as it is now.
type BackendInfo struct {
	URL      string `json:"url"`
	Address  string `json:"address,omitempty"` // of the URL's host, where that is followed
	InFlight int64  `json:"in_flight"`
	State    string `json:"state"`    // draining, down, ejected or up, the first that is so
	Healthy  bool   `json:"healthy"`  // neither down nor ejected
	Ejected  bool   `json:"ejected"`  // its own requests kept failing
	Draining bool   `json:"draining"` // an operator wants it to get no new requests
}

func backendInfo(b upstream.Status) BackendInfo {
	info := BackendInfo{URL: b.Name, InFlight: b.InFlight(), State: "up", Healthy: b.Up && !b.Ejected, Ejected: b.Ejected, Draining: b.Draining()}
	switch {
	case info.Draining:
		info.State = "draining"
	case !b.Up: // its active checks fail
		info.State = "down"
	case b.Ejected:
		info.State = "ejected"
	}
	if b.Address.IsValid() {
		info.Address = b.Address.String()
	}
	return info
}

// Upstreams lists the upstreams, by name, with their state at this moment.
func (g *Gateway) Upstreams() []UpstreamInfo {
	upstreams := g.current.Load().upstreams
	now := make([]UpstreamInfo, len(upstreams))
	for i, u := range upstreams {
		u.Breaker = u.breaker.State().String()
		for _, b := range u.pool.Pool.Backends() {
			u.Backends = append(u.Backends, backendInfo(b))
		}
		now[i] = u
	}
	return now
}

// Health says whether every backend that is checked has had its first result,
// and which upstreams can't take a request.
func (g *Gateway) Health() (known bool, down []string) {
	known = true
	for _, u := range g.current.Load().upstreams {
		known = known && u.pool.Pool.Ready()
		if !u.pool.Pool.Usable("") {
			down = append(down, u.Name)
		}
	}
	return known, down
}

package gateway

import "gatehouse/handler/proxy"

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
func (g *Gateway) Routes() []RouteInfo { return g.current.Load().routes }

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
	upstreams := g.current.Load().upstreams
	now := make([]UpstreamInfo, len(upstreams))
	for i, u := range upstreams {
		u.Breaker = u.state()
		for _, b := range u.pool.Pool.Backends() {
			u.Backends = append(u.Backends, BackendInfo{URL: b.Name, InFlight: b.InFlight()})
		}
		now[i] = u
	}
	return now
}

package config

// resolve writes the short forms out and fills in what one section takes from another. It returns the key of each route,
// since those written inside an upstream stand elsewhere than their index says.
func (c *Config) resolve(r *report) (routeKeys []string) {
	for i := range c.Routes {
		routeKeys = append(routeKeys, section{r, "routes"}.item(i).key)
	}
	for _, name := range sortedKeys(c.Upstreams) {
		at := section{r, "upstreams"}.at(name)
		upstream := c.Upstreams[name]
		upstream.resolveURL(at)
		upstream.Limit.Burst = burst(at.at("limit.burst"), upstream.Limit.Rate, upstream.Limit.Burst)
		if upstream.Route != nil {
			c.Routes = append(c.Routes, upstream.shortRoute(at.at("route"), name))
			routeKeys = append(routeKeys, at.at("route").key)
			upstream.Route = nil
		}
		c.Upstreams[name] = upstream
	}
	for name, provider := range c.Auth.Providers {
		if !(section{r, "auth.providers"}).at(name).at("headers").given() && provider.ScopeClaim != "" {
			provider.Headers["X-User-Scopes"] = provider.ScopeClaim
		}
	}
	for name, plan := range c.Plans {
		plan.Burst = burst(section{r, "plans"}.at(name).at("burst"), plan.Rate, plan.Burst)
		c.Plans[name] = plan
	}
	for i := range c.Routes {
		c.resolveRoute(&c.Routes[i], section{r, routeKeys[i]})
	}
	return routeKeys
}

func (u *Upstream) resolveURL(at section) {
	switch {
	case at.at("url").given() && at.at("backends").given():
		at.at("url").refuse("url and backends exclude each other: list every backend under backends")
	case at.at("url").given():
		u.Backends = []Backend{{URL: u.URL, Weight: 1}}
		at.marks[at.at("backends").item(0).at("url").key] = at.marks[at.at("url").key]
	}
	u.URL = ""
}

// shortRoute is the route inside an upstream as it would stand under routes.
func (u *Upstream) shortRoute(at section, upstream string) Route {
	for _, key := range []string{"name", "upstream", "split"} {
		if at.at(key).given() {
			at.at(key).refuse("has no place in an upstream's route: remove it, or move the route to routes")
		}
	}
	route := *u.Route
	route.Name, route.Split, route.Upstream = "", nil, upstream
	if !at.at("path").given() {
		route.Path = "/" + upstream
	}
	return route
}

func (c *Config) resolveRoute(route *Route, at section) {
	if !at.at("name").given() {
		route.Name = route.Path
	}
	if !at.at("auth").given() {
		route.Auth = "none"
		if len(c.Auth.Providers) > 0 || at.hidden("auth.providers") {
			route.Auth = "jwt"
		}
	}
	first := route.Upstream
	if len(route.Split) > 0 {
		first = route.Split[0].Upstream
	}
	if !at.at("scopes").given() && route.Auth != "none" && first != "" {
		route.Scopes = []string{first}
	}
	if !at.at("timeout").given() {
		route.Timeout = c.Upstreams[first].Timeouts.Request
	}
	if !at.at("max_body_size").given() {
		route.MaxBodySize = c.Server.MaxBodySize
	}
	route.Limit.Burst = burst(at.at("limit.burst"), route.Limit.Rate, route.Limit.Burst)
	route.Quota.Burst = burst(at.at("quota.burst"), route.Quota.Rate, route.Quota.Burst)
}

func burst(at section, rate Rate, burst int) int {
	if at.given() {
		return burst
	}
	return rate.burst()
}

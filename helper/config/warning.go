package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// warnings finds what is allowed and seldom meant.
func (c *Config) warnings(at places) Problems {
	found := &report{file: at.file, marks: at.marks, refused: map[string]bool{}}
	root := section{found, ""}
	c.Server.warn(root.at("server"))
	for _, name := range sortedKeys(c.Auth.Providers) {
		provider := c.Auth.Providers[name]
		provider.warn(root.at("auth").at("providers").at(name))
	}
	for _, name := range sortedKeys(c.Upstreams) {
		upstream := c.Upstreams[name]
		upstream.warn(root.at("upstreams").at(name))
	}
	for i := range c.Routes {
		c.Routes[i].warn(section{found, at.routeKeys[i]})
	}
	if !c.limitsAnything() {
		root.at("routes").warn("nothing limits how much a client may ask for: write a limit or a quota for a route, a limit for an upstream, or plans")
	}
	warnOfShadows(c.Routes, root, at.routeKeys)
	warnOfOpenRest(c.Routes, root, at.routeKeys)
	if found.err() == nil { // it sorts, too
		return nil
	}
	return found.problems
}

// warn is refuse for what is allowed.
func (s section) warn(format string, args ...any) {
	s.refuse("warning: %s", fmt.Sprintf(format, args...))
}

func (s *Server) warn(at section) {
	for i, proxies := range s.TrustedProxies {
		if item := at.at("trusted_proxies").item(i); proxies.isNobodys() {
			item.warn("%s takes in strangers, each of whom could write any address into X-Forwarded-For and so pass limits, ip_allow and the log as another: list the proxies' own addresses", item.written())
		}
	}
}

// isNobodys tells whether a network is larger than any that belongs to one owner: 10.0.0.0/8 and fc00::/7 are the largest.
func (p Prefix) isNobodys() bool {
	switch {
	case p.Addr().Is4():
		return p.Bits() < 8
	case p.Addr().Is4In6() && p.Bits() >= 96: // which is IPv4's
		return p.Bits() < 96+8
	}
	return p.Bits() < 7
}

func (p *Provider) warn(at section) {
	for key, address := range map[string]string{"issuer": p.Issuer, "jwks_url": p.JWKSURL} {
		if overPlainNetwork(address) {
			at.at(key).warn("%s is plain HTTP, where anybody on the way can put in keys of their own: write https://", at.at(key).written())
		}
	}
}

// overPlainNetwork tells whether an address is plain HTTP to another machine.
func overPlainNetwork(address string) bool {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(u.Scheme, "http") {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return !strings.EqualFold(u.Hostname(), "localhost") && (ip == nil || !ip.IsLoopback())
}

func (u *Upstream) warn(at section) {
	if u.TLS.InsecureSkipVerify {
		at.at("tls").at("insecure_skip_verify").warn("anybody who answers passes for the backend: write ca: FILE with its authority instead")
	}
	if u.Timeouts.Request == 0 {
		at.at("timeouts").at("request").warn("a request may last for ever: write 0s for the routes that stream, and a time here")
	}
}

func (r *Route) warn(at section) {
	if r.Auth == "none" && !at.at("auth").given() {
		at.at("auth").warn("the route is open to everybody and doesn't say so: write auth: none, or a provider under auth.providers")
	}
	if sign := placeholder(r.Path); sign != "" {
		at.at("path").warn("%s stands for itself alone: /a takes /a and every path below it, without one", sign)
	}
	if r.Timeout == 0 && at.at("timeout").given() {
		at.at("timeout").warn("a request may last for ever, which is for streams: write a time for anything else")
	}
	for i, origin := range r.CORS.AllowedOrigins {
		item := at.at("cors").at("allowed_origins").item(i)
		switch {
		case origin == "*":
			item.warn("every site's pages may read the answers: list the origins, unless all of it is public")
		case strings.Contains(origin, "*") && r.CORS.AllowCredentials:
			item.warn("every host below this name may act as the user, also one that somebody else has taken over: list the origins")
		}
	}
}

// placeholder is what other routers would take for any text in a path; "" is none.
func placeholder(path string) string {
	if strings.Contains(path, "*") {
		return "a *"
	}
	for segment := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(segment, ":"); ok && name != "" || strings.Contains(segment, "{") {
			return segment
		}
	}
	return ""
}

func (c *Config) limitsAnything() bool {
	for _, u := range c.Upstreams {
		if u.Limit.Rate.Events > 0 || u.Concurrency.Max > 0 {
			return true
		}
	}
	return len(c.Plans) > 0 || slices.ContainsFunc(c.Routes, func(r Route) bool {
		return r.Limit.Rate.Events > 0 || r.Quota.Rate.Events > 0 ||
			slices.ContainsFunc(r.Filters, func(filter string) bool { return strings.HasPrefix(filter, "rate_limit:") })
	})
}

package gateway

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"gatehouse/handler/proxy"
	"gatehouse/helper/clientip"
	"gatehouse/helper/config"
	"gatehouse/helper/identity"
	"gatehouse/helper/limit"
	"gatehouse/helper/route"
	"gatehouse/helper/token"
	"gatehouse/middleware"
)

// Build compiles cfg, which must have been validated. Files that it names are
// read now: an error names the file and the key of the configuration.
func Build(cfg *config.Config, deps Deps) (*Gateway, error) {
	b := &builder{cfg: cfg, deps: deps, buckets: limit.NewLocal(limit.Options{}), upstreams: make(map[string]*builtUpstream)}
	g := &Gateway{
		access: deps.Access, observer: deps.Observer, unmatched: deps.Observer.Unmatched(), buckets: b.buckets,
		clients: clientip.NewResolver(prefixes(cfg.Server.TrustedProxies)), writeIdle: time.Duration(cfg.Server.Timeouts.WriteIdle),
		idle: make(chan struct{}, 1),
	}
	verifier, err := b.verifier()
	if err != nil {
		return nil, err
	}
	guard := proxy.NewGuard(b.identityHeaders())
	for _, name := range slices.Sorted(maps.Keys(cfg.Upstreams)) {
		if err := b.upstream(name, guard); err != nil {
			return nil, err
		}
		built := b.upstreams[name]
		g.upstreams = append(g.upstreams, UpstreamInfo{Name: name, state: func() string { return built.breaker.State().String() }, pool: built.proxy})
		g.close = append(g.close, built.close)
	}
	rules := make([]route.Rule, len(cfg.Routes))
	routes := make([]middleware.Route, len(cfg.Routes))
	for i := range cfg.Routes {
		r := &cfg.Routes[i]
		rules[i] = route.Rule{Name: r.Name, Path: r.Path, Hosts: r.Hosts, Methods: r.Methods, Headers: r.Headers, AllowUnusualPath: r.AllowUnusualPath}
		if routes[i], err = b.route(r, verifier); err != nil {
			return nil, fmt.Errorf("routes[%d] (%s): %w", i, r.Name, err)
		}
		g.routes = append(g.routes, RouteInfo{Name: r.Name, Path: r.Path, Methods: r.Methods, Hosts: r.Hosts, Upstream: r.Upstream, Auth: r.Auth, Scopes: r.Scopes})
	}
	table, err := route.New(rules)
	if err != nil {
		return nil, fmt.Errorf("routes: %w", err)
	}
	g.handler = middleware.Chain(middleware.Shared{Table: table, Log: deps.Log, Panic: deps.Observer.Panic}, routes)
	return g, nil
}

// builder holds what the parts of one build share.
type builder struct {
	cfg       *config.Config
	deps      Deps
	buckets   *limit.Local
	upstreams map[string]*builtUpstream
}

func prefixes(list []config.Prefix) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = p.Prefix
	}
	return out
}

// The values of the configuration that decide something here.
const (
	authJWT     = "jwt"
	perClientIP = "client_ip"
	flushAlways = "always"
	hostBackend = "backend"
	hostClient  = "client"
)

// identityHeaders are all headers that any provider may set. The usual ones are
// among them in any case: an upstream that trusts them may stand behind a
// gateway that doesn't set them yet.
func (b *builder) identityHeaders() []string {
	names := []string{"X-User-Id", "X-User-Email", "X-User-Scopes"}
	for _, p := range b.cfg.Auth.Providers {
		names = slices.AppendSeq(names, maps.Keys(p.Headers))
	}
	return names
}

func (b *builder) route(r *config.Route, verifier *token.Verifier) (middleware.Route, error) {
	up := b.upstreams[r.Upstream]
	pattern, err := route.ParsePattern(r.Path, r.AllowUnusualPath)
	if err != nil {
		return middleware.Route{}, fmt.Errorf("path: %w", err)
	}
	out := middleware.Route{
		Name: r.Name, Upstream: r.Upstream, AllowUnusualPath: r.AllowUnusualPath, Breaker: up.breaker,
		Observer: routeObserver{b.deps.Observer.Route(r.Upstream, r.Name), up.observer},
		Proxy: up.proxy.Handler(proxy.Options{
			Prefix: pattern.Path, Strip: r.StripPrefix, Rewrite: r.Rewrite, Timeout: time.Duration(r.Timeout),
			MaxBody: int64(r.MaxBodySize), FlushAlways: r.Flush == flushAlways,
		}),
	}
	if len(r.CORS.AllowedOrigins) > 0 {
		out.CORS = middleware.NewCORS(middleware.CORSOptions{
			Origins: r.CORS.AllowedOrigins, Methods: r.CORS.AllowedMethods, Headers: r.CORS.AllowedHeaders, Exposed: r.CORS.ExposedHeaders,
			AllowCredentials: r.CORS.AllowCredentials, MaxAge: time.Duration(r.CORS.MaxAge),
		})
	}
	if out.Limits, err = b.limits(r, up); err != nil {
		return middleware.Route{}, err
	}
	if r.Auth == authJWT {
		if out.Authentication, err = b.authentication(r, verifier); err != nil {
			return middleware.Route{}, err
		}
	}
	return out, nil
}

func (b *builder) limits(r *config.Route, up *builtUpstream) ([]middleware.Limiter, error) {
	var limits []middleware.Limiter
	if up.limit != nil {
		limits = append(limits, up.limit)
	}
	if r.Limit.Rate.Events == 0 {
		return limits, nil
	}
	name := "route:" + r.Name
	rule, err := limit.NewRule(name, r.Limit.Rate.Events, r.Limit.Rate.Period, r.Limit.Burst)
	if err != nil {
		return nil, fmt.Errorf("limit: %w", err)
	}
	if r.Limit.Per == perClientIP {
		return append(limits, middleware.AddressLimit("client_ip:"+r.Name, rule, b.buckets)), nil
	}
	return append(limits, middleware.SharedLimit(name, limit.NewBucket(rule))), nil
}

func (b *builder) authentication(r *config.Route, verifier *token.Verifier) (*middleware.Authentication, error) {
	scopes, err := identity.CompileRequirement(r.Scopes)
	if err != nil {
		return nil, fmt.Errorf("scopes: %w", err)
	}
	claims, err := identity.CompileClaims(r.Claims)
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return &middleware.Authentication{
		Verifier: verifier, Provider: r.Provider, Scopes: scopes, Claims: claims,
		ExpiredStatus: b.cfg.Auth.ExpiredStatus, Observer: b.deps.Observer, Log: b.deps.Log,
	}, nil
}

// routeObserver counts for a route, and for its upstream's breaker.
type routeObserver struct {
	RouteObserver
	upstream UpstreamObserver
}

func (o routeObserver) BreakerRefused() { o.upstream.Refused() }

package gateway

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"gatehouse/handler/proxy"
	"gatehouse/helper/apikey"
	"gatehouse/helper/clientip"
	"gatehouse/helper/config"
	"gatehouse/helper/credential"
	"gatehouse/helper/limit"
	"gatehouse/helper/revocation"
	"gatehouse/helper/route"
	"gatehouse/middleware"
	"gatehouse/middleware/filter"
	"gatehouse/middleware/filter/builtin"
)

// builder compiles one configuration.
type builder struct {
	cfg       *config.Config
	deps      Deps
	parts     *parts
	buckets   *limit.Local
	limits    middleware.LimitStore
	plans     map[string]*middleware.Limit // by name
	snapshot  *snapshot
	identity  []string // headers that tell upstreams who calls, sorted
	guard     *proxy.Guard
	registry  *filter.Registry
	revoked   *revocation.List
	auth      auth
	consumed  credential.Remover
	previous  *snapshot // the current one; nil at first
	upstreams map[string]*builtUpstream
	replaced  func(*apikey.Store) // is told when a store of API keys has other keys
}

func newBuilder(cfg *config.Config, g *Gateway) *builder {
	return &builder{
		cfg: cfg, deps: g.deps, parts: g.parts, buckets: g.buckets, revoked: g.revoked, previous: g.current.Load(),
		snapshot: &snapshot{}, upstreams: make(map[string]*builtUpstream),
		replaced: func(store *apikey.Store) {
			if now := g.current.Load(); now != nil && now.apiKeys == store {
				g.countClients()
			}
		},
	}
}

// build fills in the snapshot. After an error the snapshot holds what has to be
// given back.
func (b *builder) build() (err error) {
	s, cfg := b.snapshot, b.cfg
	s.access = b.deps.Access(cfg)
	s.clients = clientip.NewResolver(prefixes(cfg.Server.TrustedProxies))
	s.writeIdle = time.Duration(cfg.Server.Timeouts.WriteIdle)
	problems := b.buildAuth() // of files: they are said together
	b.identity = identityHeaders(cfg)
	b.guard = proxy.NewGuard(b.identity, credentialHeaders(cfg)...)
	if b.consumed, err = consumed(cfg); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Upstreams)) {
		problems = errors.Join(problems, b.upstream(name))
	}
	if problems != nil {
		return problems
	}
	if err = b.buildLimitStore(); err != nil {
		return err
	}
	if err = b.buildPlans(); err != nil {
		return err
	}
	if b.registry, err = newRegistry(builtin.Options{Limits: b.limits, Identity: b.identity}, b.deps.Filters); err != nil {
		return err
	}
	rules := make([]route.Rule, len(cfg.Routes))
	routes := make([]middleware.Route, len(cfg.Routes))
	for i := range cfg.Routes {
		r := &cfg.Routes[i]
		rules[i] = route.Rule{Name: r.Name, Path: r.Path, Hosts: r.Hosts, Methods: r.Methods, Headers: r.Headers, AllowUnusualPath: r.AllowUnusualPath}
		if routes[i], err = b.splitRoute(r); err != nil {
			return fmt.Errorf("routes[%d] (%s): %w", i, r.Name, err)
		}
		s.routes = append(s.routes, routeInfo(r))
	}
	table, err := route.New(rules)
	if err != nil {
		return fmt.Errorf("routes: %w", err)
	}
	common := middleware.Shared{Table: table, Log: b.deps.Log, Panic: b.deps.Observer.Panic}
	s.handler, s.explained = middleware.Chain(common, routes), middleware.Explain(common, routes)
	s.config, s.table = cfg, table
	return nil
}

// keep notes a handle of the metrics, to be removed with the snapshot.
func keep[T Remover](b *builder, handle T) T {
	b.snapshot.handles = append(b.snapshot.handles, handle)
	return handle
}

// shared is acquire for a part of this snapshot.
func shared[T any](b *builder, key string, create func() (T, func(), error)) (T, error) {
	value, err := acquire(b.parts, key, create)
	if err == nil {
		b.snapshot.keys = append(b.snapshot.keys, key)
	}
	return value, err
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
	authNone    = "none"
	authJWT     = "jwt"
	authAPIKey  = "api_key"
	flushAlways = "always"
	hostBackend = "backend"
	hostClient  = "client"
)

func (b *builder) route(r *config.Route) (middleware.Route, error) {
	up := b.upstreams[r.Upstream]
	pattern, err := route.ParsePattern(r.Path, r.AllowUnusualPath)
	if err != nil {
		return middleware.Route{}, fmt.Errorf("path: %w", err)
	}
	mirror, err := b.mirror(r)
	if err != nil {
		return middleware.Route{}, err
	}
	out := middleware.Route{
		Name: r.Name, Upstream: r.Upstream, AllowUnusualPath: r.AllowUnusualPath, Breaker: up.breaker,
		Observer: routeObserver{keep(b, b.deps.Observer.Route(r.Upstream, r.Name)), up.observer, b.deps.Observer.QuotaRejected},
		Proxy: up.proxy.Handler(proxy.Options{
			Prefix: pattern.Path, Strip: r.StripPrefix, Rewrite: r.Rewrite, Timeout: time.Duration(r.Timeout),
			MaxBody: int64(r.MaxBodySize), FlushAlways: r.Flush == flushAlways, Mirror: mirror,
		}),
	}
	if len(r.CORS.AllowedOrigins) > 0 {
		out.CORS = middleware.NewCORS(middleware.CORSOptions{
			Origins: r.CORS.AllowedOrigins, Methods: corsMethods(r), Headers: r.CORS.AllowedHeaders, Exposed: r.CORS.ExposedHeaders,
			AllowCredentials: r.CORS.AllowCredentials, MaxAge: time.Duration(r.CORS.MaxAge),
		})
	}
	if out.Limits, err = b.routeLimits(r, up); err != nil {
		return middleware.Route{}, err
	}
	if len(r.Filters) > 0 {
		chain, err := b.filters(r)
		if err != nil {
			return middleware.Route{}, err
		}
		out.Filters, out.Explained = []middleware.Stage{chain.Wrap}, []middleware.Stage{chain.Explain}
	}
	if out.Authentication, err = b.authentication(r); err != nil {
		return middleware.Route{}, err
	}
	return out, nil
}

// corsMethods are what pages may use: what the policy says, or else what the
// route takes; where it takes any, the library allows GET, HEAD and POST.
func corsMethods(r *config.Route) []string {
	if len(r.CORS.AllowedMethods) > 0 {
		return r.CORS.AllowedMethods
	}
	return r.Methods
}

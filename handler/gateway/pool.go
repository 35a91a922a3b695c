package gateway

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/proxy"
	"gatehouse/helper/balance"
	"gatehouse/helper/config"
	"gatehouse/helper/exchange"
	"gatehouse/helper/health"
	"gatehouse/helper/retry"
	"gatehouse/helper/upstream"
)

// pool is the pool of an upstream with the handles of its backends. It outlives
// the snapshots, so it counts and logs by itself.
type pool struct {
	*upstream.Pool
	name     string
	log      *zap.Logger
	backends map[string]BackendObserver // by the URL as configured
	failures map[string]*failures       // likewise
	offline  bool                       // nobody is asked anything
	end      func()                     // of its checks and lookups; nil: they don't run
}

// start and stop are about the checks and lookups, which run while the pool is in
// the current snapshot: requests that are left over in an older one may take hours,
// and a successor checks the same backends. They are called when a snapshot
// becomes the current one, or when the pool's last user is gone.
func (p *pool) start() {
	if p.end == nil && !p.offline {
		p.end = running(p.Run)
	}
}

func (p *pool) stop() {
	if p.end != nil {
		p.end()
		p.end = nil
	}
}

// pool is the backends of an upstream; with the same settings it keeps what it
// knows of them, and with others what is known of the backends that stay.
func (b *builder) pool(name string, u config.Upstream, budget *retry.Budget) (*pool, error) {
	var members []upstream.Member
	retries := u.Retry.Attempts > 1
	key := fmt.Sprintf("pool %s %t %s %v %v %v %s %t %v", name, u.Resolve, u.Balance, u.Health, u.Eject, u.Concurrency, u.Host, retries, u.Retry.Budget)
	makers := make(map[string]*backendMaker)
	for _, configured := range u.Backends {
		maker, err := b.backendMaker(name, configured.URL, u)
		if err != nil {
			return nil, err
		}
		backend, err := shared(b, maker.key, maker.make)
		if err != nil {
			return nil, err
		}
		makers[backend.Name] = maker
		members = append(members, upstream.Member{Backend: backend, Weight: configured.Weight, Host: maker.follows(u.Resolve), At: maker.at})
		key += fmt.Sprintf(" %d*%s", configured.Weight, maker.key)
	}
	made, err := shared(b, key, func() (*pool, func(), error) {
		p := &pool{name: name, log: b.deps.Log, backends: make(map[string]BackendObserver), failures: make(map[string]*failures), offline: b.deps.Offline}
		options := upstream.Options{
			Members: members, Picker: picker(u.Balance), Concurrency: int64(u.Concurrency.Max), Lookup: b.deps.lookup(),
			Ejection: health.Ejection{Failures: u.Eject.Failures, For: time.Duration(u.Eject.For), MaxPercent: u.Eject.MaxPercent},
			OnEject:  p.ejected, OnReturn: p.returned, OnCheck: p.checked, OnLookup: p.lookedUp,
		}
		if retries {
			options.Spare = budget.Available
		}
		if u.Health.Path != "" {
			options.Checks = health.Checks{
				Interval: time.Duration(u.Health.Interval), Timeout: time.Duration(u.Health.Timeout), Expect: u.Health.ExpectStatus.Contains,
				Thresholds: health.Thresholds{HealthyAfter: u.Health.HealthyAfter, UnhealthyAfter: u.Health.UnhealthyAfter},
			}
			options.Target = func(backend *upstream.Backend) health.Target {
				return makers[backend.Name].check(backend, u.Health.Path, hostPolicy(u.Host))
			}
		}
		p.Pool = upstream.NewPool(options, b.previous.pool(name))
		for _, m := range members {
			p.failures[m.Backend.Name] = &failures{}
			p.backends[m.Backend.Name] = b.deps.Observer.Backend(name, m.Backend.Name, m.Backend.InFlight, func() bool { return p.Usable(m.Backend.Name) })
		}
		return p, func() {
			p.stop()
			for _, handle := range p.backends {
				handle.Remove()
			}
		}, nil
	})
	if err == nil {
		b.snapshot.pools = append(b.snapshot.pools, made)
	}
	return made, err
}

// pool is the pool that the upstream of that name has in a snapshot, nil when it
// has none.
func (s *snapshot) pool(name string) *upstream.Pool {
	if s == nil {
		return nil
	}
	for _, u := range s.upstreams {
		if u.Name == name {
			return u.pool.Pool
		}
	}
	return nil
}

func picker(algorithm string) func(names []string, weights []int) balance.Picker {
	switch algorithm {
	case "least_requests":
		return func(_ []string, weights []int) balance.Picker { return balance.NewLeastRequests(weights, rand.Uint64) }
	case "random_two":
		return func(_ []string, weights []int) balance.Picker { return balance.NewRandomTwo(weights, rand.Uint64) }
	case "hash":
		return func(names []string, weights []int) balance.Picker { return balance.NewHash(names, weights) }
	}
	return func(_ []string, weights []int) balance.Picker { return balance.NewRoundRobin(weights) }
}

// hashKey is what hash_by chooses a backend by. Where the request doesn't have
// it, it is the client's address; nil: nothing.
func hashKey(by string) proxy.Key {
	address := func(ex *exchange.Exchange, _ *http.Request) uint64 { return balance.AddrKey(ex.Client.Addr) }
	kind, name, _ := strings.Cut(by, ":")
	switch kind {
	case "":
		return nil
	case "subject":
		return func(ex *exchange.Exchange, r *http.Request) uint64 {
			if ex.Principal == nil {
				return address(ex, r)
			}
			return balance.Key(ex.Principal.Subject)
		}
	case "header":
		name = http.CanonicalHeaderKey(name)
		return func(ex *exchange.Exchange, r *http.Request) uint64 {
			if values := r.Header[name]; len(values) > 0 {
				return balance.Key(values[0])
			}
			return address(ex, r)
		}
	case "cookie":
		return func(ex *exchange.Exchange, r *http.Request) uint64 {
			if cookie, err := r.Cookie(name); err == nil {
				return balance.Key(cookie.Value)
			}
			return address(ex, r)
		}
	}
	return address
}

func (p *pool) returned(b *upstream.Backend) {
	p.log.Info("backend returned: its trial request succeeded", p.about(b)...)
}

func (p *pool) checked(b *upstream.Backend, cause error) {
	if cause != nil {
		p.log.Warn("backend down", append(p.about(b), zap.Error(cause))...)
		return
	}
	p.log.Info("backend up", p.about(b)...)
}

func (p *pool) lookedUp(b *upstream.Backend, addresses []netip.Addr, cause error) {
	if cause != nil {
		p.log.Warn("looking a backend's name up failed; its addresses stay", append(p.about(b), zap.Error(cause))...)
		return
	}
	p.log.Info("backend's addresses", append(p.about(b), zap.Stringers("addresses", addresses))...)
}

func (p *pool) about(b *upstream.Backend) []zap.Field {
	fields := []zap.Field{zap.String("upstream", p.name), zap.String("backend", b.Name)}
	if b.Address.IsValid() {
		fields = append(fields, zap.Stringer("address", b.Address))
	}
	return fields
}

package gateway

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/config"
	"gatehouse/helper/exchange"
	"gatehouse/helper/limit"
	"gatehouse/helper/problem"
	"gatehouse/helper/revocation"
	"gatehouse/logger"
	"gatehouse/middleware/filter"
)

// Deps are what a gateway uses and doesn't own.
type Deps struct {
	Log      *zap.Logger
	Access   func(*config.Config) *logger.Access // the access log that a configuration asks for
	Observer Observer
	Filters  []filter.Factory // besides the built-in ones
	Offline  bool             // the gateway is compiled, not served: nobody is asked for keys, no backend is checked, and Redis isn't used
	// FetchKeys has keys fetched, even Offline.
	FetchKeys bool
	Tracing   Tracing
	// Lookup finds the addresses of the backends' names; nil: as the system does.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Gateway is the handler of the public listener.
type Gateway struct {
	deps      Deps
	unmatched exchange.Observer
	buckets   *limit.Local
	parts     *parts
	revoked   *revocation.List

	loading  sync.Mutex // one Load at a time
	current  atomic.Pointer[snapshot]
	retiring sync.WaitGroup

	inFlight atomic.Int64
	draining atomic.Bool
	idle     chan struct{} // gets a value when the last request has ended
}

// Build makes a gateway that serves cfg; see Load.
func Build(cfg *config.Config, deps Deps) (*Gateway, error) {
	g := &Gateway{
		deps: deps, unmatched: deps.Observer.Unmatched(), buckets: limit.NewLocal(limit.Options{}), parts: newParts(),
		revoked: &revocation.List{},
		idle:    make(chan struct{}, 1),
	}
	return g, g.Load(cfg)
}

// Load compiles cfg, which must have been validated, and serves it from the
// next request on; requests that have begun end with what they began with. What
// the old and the new configuration have in common keeps its state. Files that
// cfg names are read now: an error names the file and the key, and changes
// nothing.
func (g *Gateway) Load(cfg *config.Config) error {
	g.loading.Lock()
	defer g.loading.Unlock()
	b := newBuilder(cfg, g)
	if err := b.build(); err != nil {
		b.snapshot.removeHandles()
		g.parts.release(b.snapshot.keys)
		return err
	}
	g.replace(b.snapshot)
	g.countClients()
	return nil
}

// Run does the work that isn't done by requests, until ctx ends; then it ends
// what the configurations started. It waits for requests that are still in
// flight, but not for long: a process that is told to end must end.
func (g *Gateway) Run(ctx context.Context) error {
	err := g.buckets.Run(ctx)
	g.loading.Lock()
	defer g.loading.Unlock()
	g.letGo(g.current.Load())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.retiring.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(retireTimeout):
	}
	return err
}

// retireTimeout is how long the last requests may hold up the end of Run.
const retireTimeout = 2 * time.Second

// TrustedProxy says whether the current configuration trusts the proxy at addr.
func (g *Gateway) TrustedProxy(addr netip.Addr) bool { return g.current.Load().clients.Trusts(addr) }

// Refused counts a request that the server refused before ServeHTTP could see it.
func (g *Gateway) Refused() { g.unmatched.Rejected(string(problem.BadRequest)) }

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

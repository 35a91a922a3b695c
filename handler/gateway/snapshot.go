package gateway

import (
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"gatehouse/helper/apikey"
	"gatehouse/helper/assertion"
	"gatehouse/helper/clientip"
	"gatehouse/helper/config"
	"gatehouse/helper/route"
	"gatehouse/logger"
)

// snapshot is one configuration, compiled. It never changes; a reload puts
// another in its place, and the old one is retired when its last request has
// ended.
type snapshot struct {
	handler   http.Handler
	explained http.Handler // the same for requests that are only asked about
	config    *config.Config
	table     *route.Table
	access    *logger.Access
	clients   *clientip.Resolver
	writeIdle time.Duration
	routes    []RouteInfo
	upstreams []UpstreamInfo
	remotes   []remote           // sources of keys, one for each provider that has one
	keyring   *assertion.Keyring // nil: no assertions are made
	apiKeys   *apikey.Store      // nil: there are none

	pools   []*pool
	handles []Remover // of the metrics
	keys    []string  // of the parts it uses

	// users is one for the gateway, as long as this is the current snapshot, and
	// one for each request. 0 is retired, for good.
	users  atomic.Int64
	retire func()
}

// acquire counts a request in. It fails when the snapshot has been retired
// since it was looked up.
func (s *snapshot) acquire() bool {
	for {
		n := s.users.Load()
		if n == 0 {
			return false
		}
		if s.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (s *snapshot) release() {
	if s.users.Add(-1) == 0 {
		s.retire()
	}
}

// enter returns the current snapshot with one user more.
func (g *Gateway) enter() *snapshot {
	for {
		if s := g.current.Load(); s.acquire() {
			return s
		}
	}
}

// replace makes next the current snapshot. The series that only the old one had
// go at once; its parts go when its last request has ended, on a goroutine that
// Run waits for.
func (g *Gateway) replace(next *snapshot) {
	next.users.Store(1)
	g.retiring.Add(1)
	next.retire = func() {
		go func() {
			defer g.retiring.Done()
			g.parts.release(next.keys)
			g.deps.Observer.Retiring(-1)
		}()
	}
	for _, p := range next.pools {
		p.start()
	}
	old := g.current.Swap(next)
	if old != nil {
		old.removeHandles()
		for _, p := range old.pools {
			if !slices.Contains(next.pools, p) {
				p.stop()
			}
		}
		g.letGo(old)
	}
}

// letGo retires what was the current snapshot, once its last request has ended.
func (g *Gateway) letGo(s *snapshot) {
	g.deps.Observer.Retiring(1) // first: the last request may end meanwhile
	s.release()
}

func (s *snapshot) removeHandles() {
	for _, h := range s.handles {
		h.Remove()
	}
}

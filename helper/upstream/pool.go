package upstream

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"

	"gatehouse/helper/balance"
	"gatehouse/helper/health"
)

// Options are what a pool is made of.
type Options struct {
	Members []Member
	// Picker makes the picker of backends with these names and weights.
	Picker   func(names []string, weights []int) balance.Picker
	Ejection health.Ejection // its hooks are the pool's own, see OnEject
	// Checks are the active checks, and Target how a backend is asked. A nil
	// Target means that there are none.
	Checks health.Checks // its hook is the pool's own, see OnCheck
	Target func(*Backend) health.Target
	// Concurrency is how many requests may be in the pool at once; 0: any number.
	Concurrency int64
	// Spare says whether a failed attempt can be made good by another one at the
	// moment. While it can't, a backend that failed last is passed over, if there
	// are others. It is asked at most once a pick, and mustn't say no for ever: such
	// a backend would never be tried again. nil: always.
	Spare func() bool
	// Lookup finds the addresses of a host name, such as net.Resolver.LookupNetIP
	// does for the network "ip".
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	// The hooks may be nil. They are called after the change, and never under a
	// lock.
	OnEject, OnReturn func(*Backend)
	OnCheck           func(b *Backend, cause error)                                  // cause: why it is down; nil: it is up
	OnLookup          func(configured *Backend, addresses []netip.Addr, cause error) // the addresses are others now, or the lookup began to fail
}

// Member is one backend as configured.
type Member struct {
	Backend *Backend
	Weight  int
	// Host is the host name to follow; "": none.
	Host string
	// At makes the backend at one of Host's addresses, with a transport of its
	// own; the pool closes that one's idle connections when the address leaves.
	At func(netip.Addr) (*Backend, error)
}

// Pool is the backends of one upstream and the way to choose among them.
type Pool struct {
	options  Options
	current  atomic.Pointer[set]
	inFlight atomic.Int64
	ran      bool // Run's own
}

// set is the backends of a pool between two changes of their number.
type set struct {
	backends []*Backend
	weights  []int
	picker   balance.Picker
	again    balance.Picker // for another attempt
	group    *health.Group
	checker  *health.Checker // nil: no active checks
}

// NewPool makes a pool. What previous, unless it is nil, knows about backends
// that are in both is taken over.
func NewPool(o Options, previous *Pool) *Pool {
	p := &Pool{options: o}
	var before *set
	if previous != nil {
		before = previous.current.Load()
	}
	var backends []*Backend
	var weights []int
	for _, m := range o.Members {
		for _, b := range before.of(m) {
			backends, weights = append(backends, b), append(weights, m.Weight)
		}
	}
	p.current.Store(p.newSet(backends, weights, before))
	return p
}

// of are the backends that a member stands for: those it stood for before, or
// itself until its name has been looked up.
func (s *set) of(m Member) (backends []*Backend) {
	if s != nil && m.Host != "" {
		for _, b := range s.backends {
			if b.configured == m.Backend {
				backends = append(backends, b)
			}
		}
	}
	if len(backends) == 0 {
		backends = []*Backend{m.Backend}
	}
	return backends
}

func (p *Pool) newSet(backends []*Backend, weights []int, before *set) *set {
	s := &set{backends: backends, weights: weights}
	names, byID := make([]string, len(backends)), make(map[string]*Backend, len(backends))
	targets := make([]health.Target, len(backends))
	for i, b := range backends {
		names[i] = b.id()
		byID[names[i]] = b
		if p.options.Target != nil {
			targets[i] = p.options.Target(b)
			targets[i].Name = names[i]
		}
	}
	s.picker = p.options.Picker(names, weights)
	s.again = s.picker
	if _, turns := s.picker.(*balance.RoundRobin); turns {
		// Another attempt takes no turn: of two backends, the dead one would get all
		// the turns of requests, and the living one those of their retries.
		s.again = balance.NewLeastRequests(weights, rand.Uint64)
	}
	ejection, checks := p.options.Ejection, p.options.Checks
	ejection.OnEject = hook(p.options.OnEject, byID)
	ejection.OnReturn = hook(p.options.OnReturn, byID)
	checks.OnChange = func(id string, cause error) {
		if p.options.OnCheck != nil {
			p.options.OnCheck(byID[id], cause)
		}
	}
	var group *health.Group
	var checker *health.Checker
	if before != nil {
		group, checker = before.group, before.checker
	}
	s.group = health.NewGroup(ejection, names, group)
	if p.options.Target != nil {
		s.checker = health.NewChecker(checks, targets, checker)
	}
	return s
}

func hook(told func(*Backend), byID map[string]*Backend) func(string) {
	if told == nil {
		return nil
	}
	return func(id string) { told(byID[id]) }
}

// Enter counts a request into the pool; false means that there are as many as
// may be. The caller must Leave after true.
func (p *Pool) Enter() bool {
	if p.inFlight.Add(1) <= p.options.Concurrency || p.options.Concurrency == 0 {
		return true
	}
	p.inFlight.Add(-1)
	return false
}

// Leave counts a request out.
func (p *Pool) Leave() { p.inFlight.Add(-1) }

// up says whether a backend gets requests, as far as its health goes.
func (s *set) up(i int) bool { return s.checker == nil || s.checker.Up(i) }

package lease

import (
	"context"
	"sync"
	"time"

	"gatehouse/helper/limit"
)

const (
	// lifetime is how long a token may be kept, and the time over which the
	// need of a key is measured.
	lifetime = 100 * time.Millisecond
	// mostLeases bounds the memory: keys past it are decided in the shared store.
	mostLeases = 100_000
)

// Options are the settings of a Store.
type Options struct {
	Remote limit.Remote
	Most   int // tokens that are taken at a time for a key; at least 1
}

// Store is a limit.Remote that leases tokens from another one.
type Store struct {
	options Options
	mu      sync.Mutex
	leases  map[limit.Key]*lease
}

// New returns a store that holds nothing.
func New(options Options) *Store {
	return &Store{options: options, leases: make(map[limit.Key]*lease)}
}

// Check asks the shared store.
func (s *Store) Check(ctx context.Context) error { return s.options.Remote.Check(ctx) }

// Run forgets the leases of keys that aren't busy any longer, until ctx ends;
// then it returns nil.
func (s *Store) Run(ctx context.Context) error {
	ticker := time.NewTicker(10 * lifetime)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			s.sweep(now)
		}
	}
}

func (s *Store) sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, l := range s.leases {
		if l.idle(now) {
			delete(s.leases, key)
		}
	}
}

// Decide is limit.Local's, over all instances. It asks the shared store for what
// isn't leased, all in one call.
func (s *Store) Decide(ctx context.Context, demands []limit.Demand) error {
	t := trip{store: s, demands: demands, parts: make([]part, len(demands))}
	if t.prepare(time.Now()) {
		return nil
	}
	err := s.options.Remote.Decide(ctx, t.asks)
	t.finish(time.Now(), err)
	return err
}

// find returns the lease of a key, which is made if there is room, else nil.
func (s *Store) find(key limit.Key) *lease {
	l := s.leases[key]
	if l == nil && len(s.leases) < mostLeases {
		l = &lease{}
		s.leases[key] = l
	}
	return l
}

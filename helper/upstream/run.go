package upstream

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"
)

const (
	lookupInterval = 10 * time.Second
	lookupTimeout  = 5 * time.Second
)

var errNoAddress = errors.New("the name has no address")

// Run checks the backends and follows their names until the context ends. It
// returns nil, when all that it started has ended; then it may be called again.
func (p *Pool) Run(ctx context.Context) error {
	if p.ran { // a Checker runs once
		s := p.current.Load()
		p.current.Store(p.newSet(s.backends, s.weights, s))
	}
	p.ran = true
	names := &lookups{pool: p, failing: make([]bool, len(p.options.Members))}
	for ctx.Err() == nil {
		checking, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func(s *set) {
			defer close(done)
			if s.checker != nil {
				_ = s.checker.Run(checking) // it ends only because it is told to
			}
		}(p.current.Load())
		next := names.change(ctx)
		stop()
		<-done
		if next != nil {
			p.replace(next)
		}
	}
	for _, b := range p.current.Load().backends {
		if b.configured != nil {
			b.CloseIdle()
		}
	}
	return nil
}

// replace puts other backends in the place of those there are. Requests that are
// with one that leaves finish.
func (p *Pool) replace(members []resolved) {
	before := p.current.Load()
	var backends []*Backend
	var weights []int
	for _, m := range members {
		for _, b := range m.backends {
			backends, weights = append(backends, b), append(weights, m.weight)
		}
	}
	p.current.Store(p.newSet(backends, weights, before))
	for _, b := range before.backends {
		if b.configured != nil && !slices.Contains(backends, b) {
			b.CloseIdle()
		}
	}
}

// lookups follows the names of a pool's members.
type lookups struct {
	pool    *Pool
	failing []bool // by member: what the hook was told last
}

// resolved is a member with the backends it stands for.
type resolved struct {
	backends []*Backend
	weight   int
}

// change waits until some name has other addresses, and returns all members; nil
// when the context has ended.
func (l *lookups) change(ctx context.Context) []resolved {
	members := l.pool.options.Members
	if !slices.ContainsFunc(members, func(m Member) bool { return m.Host != "" }) {
		<-ctx.Done()
		return nil
	}
	for ctx.Err() == nil {
		next := time.After(lookupInterval)
		now, changed := make([]resolved, len(members)), false
		for i, m := range members {
			have := l.pool.current.Load().of(m)
			now[i] = resolved{have, m.Weight}
			if m.Host == "" {
				continue
			}
			if others := l.lookUp(ctx, i, have); others != nil {
				now[i].backends, changed = others, true
			}
		}
		if changed {
			return now
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
	return nil
}

// lookUp returns the backends of a member, nil when they are those it has: also
// when its name can't be looked up at the moment.
func (l *lookups) lookUp(ctx context.Context, i int, have []*Backend) []*Backend {
	m := l.pool.options.Members[i]
	looking, cancel := context.WithTimeout(ctx, lookupTimeout)
	addresses, err := l.pool.options.Lookup(looking, m.Host)
	cancel()
	if ctx.Err() != nil {
		return nil
	}
	var backends []*Backend
	if err == nil {
		backends, err = m.at(addresses, have)
	}
	if err != nil || len(addresses) == 0 {
		if !l.failing[i] {
			l.told(m.Backend, nil, cmp.Or(err, errNoAddress))
		}
		l.failing[i] = true
		return nil
	}
	recovered := l.failing[i]
	l.failing[i] = false
	if slices.Equal(backends, have) {
		if recovered {
			l.told(m.Backend, addresses, nil)
		}
		return nil
	}
	l.told(m.Backend, addresses, nil)
	return backends
}

func (l *lookups) told(configured *Backend, addresses []netip.Addr, cause error) {
	if l.pool.options.OnLookup != nil {
		l.pool.options.OnLookup(configured, addresses, cause)
	}
}

// at returns the backends at these addresses, those that are there already as
// they are. The order is that of the addresses, not of the answer, which servers
// of names like to shuffle.
func (m Member) at(addresses []netip.Addr, have []*Backend) ([]*Backend, error) {
	for i := range addresses {
		addresses[i] = addresses[i].Unmap()
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	var backends []*Backend
	for _, address := range slices.Compact(addresses) {
		if i := slices.IndexFunc(have, func(b *Backend) bool { return b.Address == address }); i >= 0 {
			backends = append(backends, have[i])
			continue
		}
		b, err := m.At(address)
		if err != nil {
			return nil, err
		}
		b.at(m.Backend, address)
		backends = append(backends, b)
	}
	return backends, nil
}

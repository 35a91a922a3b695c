package transport

import (
	"slices"
	"sync"
	"time"
)

// sweepEvery is how often unused connections are looked through.
const sweepEvery = time.Second

// pool keeps the unused connections of a lane, the newest last. It is safe for
// concurrent use.
type pool struct {
	max     int           // 0: no limit
	timeout time.Duration // 0: no limit

	mu     sync.Mutex
	conns  []*link
	closed bool // since the last get
	sweeps *time.Timer
}

// get takes the newest connection that is still good, or that finds out by itself when
// it is used; nil when there is none. The newest has the best chance to be good, and the
// others can grow old.
func (p *pool) get() *link {
	for {
		c := p.pop()
		if c == nil || c.asks() || c.good() {
			return c
		}
		c.close()
	}
}

func (p *pool) pop() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
	last := len(p.conns) - 1
	if last < 0 {
		return nil
	}
	c := p.conns[last]
	p.conns[last] = nil
	p.conns = p.conns[:last]
	return c
}

// put says whether it has kept c.
func (p *pool) put(c *link) bool {
	c.since = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.max > 0 && len(p.conns) >= p.max {
		return false
	}
	p.conns = append(p.conns, c)
	if p.sweeps == nil {
		p.sweeps = time.AfterFunc(sweepEvery, p.sweep)
	}
	return true
}

// sweep closes the connections that were unused for too long, and those that the
// backend has closed: no goroutine reads them that would notice.
func (p *pool) sweep() {
	now := time.Now()
	unused := p.unusedSince(now.Add(-sweepEvery))
	kept := unused[:0]
	for _, c := range unused {
		if p.timeout > 0 && now.Sub(c.since) >= p.timeout || !c.good() {
			c.close()
		} else {
			kept = append(kept, c)
		}
	}
	for _, c := range p.giveBack(kept) {
		c.close()
	}
}

// unusedSince takes those out that were put before t, which are the first.
func (p *pool) unusedSince(t time.Time) []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for n < len(p.conns) && !p.conns[n].since.After(t) {
		n++
	}
	unused := slices.Clone(p.conns[:n])
	p.conns = slices.Delete(p.conns, 0, n)
	return unused
}

// giveBack puts those back that unusedSince took, and returns those for which there
// is no room any more.
func (p *pool) giveBack(unused []*link) (surplus []*link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	room := len(unused)
	if p.max > 0 {
		room = min(room, max(0, p.max-len(p.conns)))
	}
	if p.closed {
		room = 0
	}
	surplus, unused = unused[:len(unused)-room], unused[len(unused)-room:]
	p.conns = slices.Insert(p.conns, 0, unused...)
	p.sweeps = nil
	if len(p.conns) > 0 {
		p.sweeps = time.AfterFunc(sweepEvery, p.sweep)
	}
	return surplus
}

// closeAll closes what is unused. What comes back from then on is closed too,
// until another request comes.
func (p *pool) closeAll() {
	p.mu.Lock()
	conns := p.conns
	p.conns, p.closed = nil, true
	if p.sweeps != nil && p.sweeps.Stop() { // else sweep runs, and sets it
		p.sweeps = nil
	}
	p.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
}

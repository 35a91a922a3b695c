package health

import (
	"sync/atomic"
	"time"
)

// Ejection says when a backend that keeps failing is passed over.
type Ejection struct {
	// Failures in a row eject a backend. 0 turns it off.
	Failures int
	// For is how long it stays out before its trial request.
	For time.Duration
	// MaxPercent is the share of the backends that may be out at once, rounded
	// down to whole ones.
	MaxPercent int
	// OnEject, unless nil, is called each time a backend is ejected, also by a
	// trial that failed; OnReturn when a trial has succeeded. They are called on
	// the goroutine that reported, after the change, and may use the group.
	OnEject, OnReturn func(name string)
}

// Group is the backends of a pool as their requests show them.
type Group struct {
	ejection Ejection
	limit    int64
	out      atomic.Int64 // never over limit; a backend on trial is out
	members  []member
}

type member struct {
	name    string
	current atomic.Pointer[stay]
}

// NewGroup makes the group of the backends of these names; its methods take
// their index. Backends that previous knows by the same name, unless it is nil,
// begin as they stand there, as far as the limit allows; requests that are out
// report to previous.
func NewGroup(e Ejection, names []string, previous *Group) *Group {
	g := &Group{ejection: e, limit: int64(len(names) * e.MaxPercent / 100), members: make([]member, len(names))}
	for i, name := range names {
		m := &g.members[i]
		m.name = name
		m.current.Store(g.inherit(m, previous))
	}
	return g
}

func (g *Group) inherit(m *member, previous *Group) *stay {
	fresh := &stay{group: g, member: m}
	if previous == nil || g.ejection.Failures == 0 {
		return fresh
	}
	for i := range previous.members {
		old := previous.members[i].current.Load()
		switch {
		case old.member.name != m.name:
			continue
		case !old.out:
			fresh.status.Store(old.status.Load())
		case g.reserve():
			fresh.out, fresh.until = true, old.until
			if longest := time.Now().Add(g.ejection.For); longest.Before(old.until) {
				fresh.until = longest
			}
		}
	}
	return fresh
}

// Available tells whether a backend may be picked: it isn't ejected, or its time
// is over and no request is trying it.
func (g *Group) Available(index int) bool {
	now := g.members[index].current.Load()
	return !now.out || !now.trial.Load() && now.over()
}

// Ejected tells whether a backend is out, be it on trial.
func (g *Group) Ejected(index int) bool { return g.members[index].current.Load().out }

// Failing tells whether a backend that isn't out has failed last.
func (g *Group) Failing(index int) bool {
	now := g.members[index].current.Load()
	return !now.out && now.status.Load() != int64(up)
}

// Acquire reports whether a request may go to a backend now. If so, p must then
// report its result, once. A permit that p still held is given back first.
func (g *Group) Acquire(index int, p *Permit) bool {
	p.Neutral()
	if g.ejection.Failures == 0 {
		return true
	}
	now := g.members[index].current.Load()
	if now.out && (!now.over() || !now.trial.CompareAndSwap(false, true)) {
		return false
	}
	p.stay.Store(now)
	return true
}

// reserve takes one of the places for ejected backends, if one is left.
func (g *Group) reserve() bool {
	for {
		taken := g.out.Load()
		if taken >= g.limit {
			return false
		}
		if g.out.CompareAndSwap(taken, taken+1) {
			return true
		}
	}
}

func tell(hook func(name string), name string) {
	if hook != nil {
		hook(name)
	}
}

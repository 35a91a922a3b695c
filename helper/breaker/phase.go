package breaker

import (
	"sync/atomic"
	"time"
)

// phase is one stay in one state. A permit keeps the phase that issued it, and
// each phase has its own counters: the result of a request that was admitted in
// an earlier phase moves counters that nobody reads any more.
type phase struct {
	breaker *Breaker
	state   State
	forced  bool          // an operator's phase: it ends by Force alone
	until   time.Duration // Open: its end, since breaker.start

	failures  atomic.Int64 // Closed: in a row
	trials    atomic.Int64 // HalfOpen: out, or come back as a success
	successes atomic.Int64 // HalfOpen
}

// over reports whether an open phase has lasted its time.
func (p *phase) over() bool {
	return p.state == Open && !p.forced && time.Since(p.breaker.start) >= p.until
}

// takeTrial takes one of the half-open places, if one is left.
func (p *phase) takeTrial() bool {
	for {
		taken := p.trials.Load()
		if taken >= int64(p.breaker.options.HalfOpenRequests) {
			return false
		}
		if p.trials.CompareAndSwap(taken, taken+1) {
			return true
		}
	}
}

func (p *phase) success() {
	switch p.state {
	case Closed:
		// A store would take the cache line from every other core, for nothing
		// as long as the upstream is well.
		if p.failures.Load() != 0 {
			p.failures.Store(0)
		}
	case HalfOpen:
		if p.successes.Add(1) == int64(p.breaker.options.HalfOpenRequests) {
			p.breaker.move(p, &phase{breaker: p.breaker, state: Closed})
		}
	}
}

func (p *phase) failure() {
	b := p.breaker
	if p.state == Closed && p.failures.Add(1) < int64(b.options.Failures) {
		return
	}
	b.move(p, &phase{breaker: b, state: Open, until: time.Since(b.start) + b.options.OpenFor})
}

func (p *phase) neutral() {
	if p.state == HalfOpen {
		p.trials.Add(-1)
	}
}

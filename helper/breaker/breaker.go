package breaker

import (
	"sync/atomic"
	"time"
)

// State is what a breaker does with requests. The numbers are those of the
// metric gateway_breaker_state.
type State uint8

// The states.
const (
	Closed   State = 0 // every request passes
	HalfOpen State = 1 // a few trials pass
	Open     State = 2 // no request passes
)

// String is the state's name in metrics and logs.
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case HalfOpen:
		return "half-open"
	default:
		return "open"
	}
}

// Override is an operator's decision about a breaker.
type Override uint8

// The decisions.
const (
	Auto         Override = iota // the results decide
	ForcedOpen                   // nothing passes
	ForcedClosed                 // everything passes and no result counts
)

// Options says when a breaker opens and how it closes again.
type Options struct {
	// Failures in a row open the breaker. 0 turns it off: it opens only when
	// an operator forces it.
	Failures int
	// OpenFor is how long the breaker stays open before the first trial.
	OpenFor time.Duration
	// HalfOpenRequests is how many trials may be out at once, and how many
	// must succeed to close the breaker; at least 1.
	HalfOpenRequests int
	// OnTransition, unless nil, is called once after each change of state, on
	// the goroutine that caused it and outside any lock, so it may use the
	// breaker. The end of OpenFor is a transition only when a request comes.
	OnTransition func(from, to State)
}

// Breaker is one upstream's circuit breaker, safe for concurrent use.
type Breaker struct {
	options Options
	start   time.Time // the monotonic clock's zero
	current atomic.Pointer[phase]
}

// New returns a closed breaker. Options that could never open or never close it
// again are a bug of the caller, who has validated them, and panic.
func New(options Options) *Breaker {
	if options.Failures < 0 || options.OpenFor < 0 || options.Failures > 0 && options.HalfOpenRequests < 1 {
		panic("breaker: negative option, or no half-open request")
	}
	b := &Breaker{options: options, start: time.Now()}
	b.current.Store(&phase{breaker: b, state: Closed})
	return b
}

// Acquire reports whether a request may go to the upstream now. If so, p must
// then report its result; the caller defers p.Neutral to be sure of that. A
// permit that p still held is given back first. A refused p stays the zero
// Permit.
func (b *Breaker) Acquire(p *Permit) bool {
	p.Neutral()
	for {
		now := b.current.Load()
		switch now.state {
		case Closed:
			if b.options.Failures > 0 && !now.forced {
				p.phase.Store(now)
			}
			return true
		case HalfOpen:
			if !now.takeTrial() {
				return false
			}
			// A place in a period that has ended meanwhile is worth nothing.
			if b.current.Load() == now {
				p.phase.Store(now)
				return true
			}
		case Open:
			if !now.over() {
				return false
			}
			b.move(now, &phase{breaker: b, state: HalfOpen})
		}
	}
}

// Admits reports what Acquire would, and takes nothing.
func (b *Breaker) Admits() bool {
	now := b.current.Load()
	switch now.state {
	case HalfOpen:
		return now.trials.Load() < int64(b.options.HalfOpenRequests)
	case Open:
		return now.over()
	default:
		return true
	}
}

// State is the state at this moment. An open breaker whose time is over is
// HalfOpen already: the next request would be admitted as a trial.
func (b *Breaker) State() State {
	now := b.current.Load()
	if now.over() {
		return HalfOpen
	}
	return now.state
}

// RetryAfter is the time until the first trial, 0 unless the breaker is open.
// Nobody knows when an operator lets go of a breaker that is forced open: then
// it is OpenFor.
func (b *Breaker) RetryAfter() time.Duration {
	now := b.current.Load()
	switch {
	case now.state != Open:
		return 0
	case now.forced:
		return b.options.OpenFor
	default:
		return max(0, now.until-time.Since(b.start))
	}
}

// Forced says whether an operator holds the breaker open or closed.
func (b *Breaker) Forced() bool { return b.current.Load().forced }

// Force holds the breaker open or closed, until Auto lets the results decide
// again, beginning closed with no failures. Auto changes nothing when nothing
// is forced.
func (b *Breaker) Force(o Override) {
	next := &phase{breaker: b, state: Closed, forced: o != Auto}
	if o == ForcedOpen {
		next.state = Open
	}
	for {
		now := b.current.Load()
		if o == Auto && !now.forced || b.move(now, next) {
			return
		}
	}
}

// move replaces one phase by the next, unless another goroutine was first.
func (b *Breaker) move(from, to *phase) bool {
	if !b.current.CompareAndSwap(from, to) {
		return false
	}
	if b.options.OnTransition != nil && from.state != to.state {
		b.options.OnTransition(from.state, to.state)
	}
	return true
}

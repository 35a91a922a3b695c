package breaker

import "sync/atomic"

// Permit is the right to send one request. It reports that request's result
// once: of all calls of its methods only the first after Acquire counts. The
// zero Permit reports nothing.
//
// It is made to be a field of a per-request struct, so that no request
// allocates one; it must not be copied. Its methods may be called concurrently.
type Permit struct {
	phase atomic.Pointer[phase] // nil: nothing to report
}

// Success reports that the upstream did its work.
func (p *Permit) Success() {
	if phase := p.spend(); phase != nil {
		phase.success()
	}
}

// Failure reports that the upstream failed.
func (p *Permit) Failure() {
	if phase := p.spend(); phase != nil {
		phase.failure()
	}
}

// Neutral reports that the request says nothing about the upstream: it was
// never sent, or the client went away.
func (p *Permit) Neutral() {
	if phase := p.spend(); phase != nil {
		phase.neutral()
	}
}

// Trial says whether the request is one of the trials of a half-open breaker.
func (p *Permit) Trial() bool {
	phase := p.phase.Load()
	return phase != nil && phase.state == HalfOpen
}

// Yield gives the place of a trial to the next request, because the client keeps
// this one waiting; what is reported later counts nothing. A permit that is no
// trial keeps its say.
func (p *Permit) Yield() {
	if phase := p.phase.Load(); phase != nil && phase.state == HalfOpen && p.phase.CompareAndSwap(phase, nil) {
		phase.neutral()
	}
}

// spend empties the permit. The load spares the deferred Neutral, which nearly
// always comes second, an atomic write.
func (p *Permit) spend() *phase {
	if p.phase.Load() == nil {
		return nil
	}
	return p.phase.Swap(nil)
}

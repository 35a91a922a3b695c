package health

import (
	"sync/atomic"
	"time"
)

// Permit is the right to send one request to a backend. Of the calls of its
// methods only the first after Acquire counts; the zero Permit reports nothing.
// It must not be copied. Its methods may be called concurrently.
type Permit struct {
	stay atomic.Pointer[stay] // nil: nothing to report
}

// Trial says whether the request is the trial of an ejected backend.
func (p *Permit) Trial() bool {
	s := p.stay.Load()
	return s != nil && s.out
}

// Yield gives the place of a trial to the next request; what is reported later
// counts nothing. A permit that is no trial keeps its say.
func (p *Permit) Yield() {
	if s := p.stay.Load(); s != nil && s.out && p.stay.CompareAndSwap(s, nil) {
		s.trial.Store(false)
	}
}

// Success reports that the backend did its work.
func (p *Permit) Success() {
	if s := p.spend(); s != nil {
		s.report(true)
	}
}

// Failure reports that the backend failed.
func (p *Permit) Failure() {
	if s := p.spend(); s != nil {
		s.report(false)
	}
}

// Neutral reports that the request says nothing about the backend: it was never
// sent, or the client went away.
func (p *Permit) Neutral() {
	if s := p.spend(); s != nil && s.out {
		s.trial.Store(false)
	}
}

// spend empties the permit. The load spares the deferred Neutral, which nearly
// always comes second, an atomic write.
func (p *Permit) spend() *stay {
	if p.stay.Load() == nil {
		return nil
	}
	return p.stay.Swap(nil)
}

// stay is the time from one change of a backend to the next: in, among those that
// get requests, or out. A permit keeps the stay that issued it, so that a late
// result moves what nobody reads any more.
type stay struct {
	group  *Group
	member *member
	out    bool
	until  time.Time // out: the time of the trial

	status atomic.Int64 // in: a Status
	trial  atomic.Bool  // out: a request is trying the backend, or has ended the stay
}

func (s *stay) over() bool { return !time.Now().Before(s.until) }

func (s *stay) report(good bool) {
	switch {
	case !s.out:
		if !s.count(good).Up() {
			s.eject()
		}
	case good:
		s.member.current.Store(&stay{group: s.group, member: s.member}) // only the one trial gets here
		s.group.out.Add(-1)
		tell(s.group.ejection.OnReturn, s.member.name)
	default:
		s.member.current.Store(s.ejected())
		tell(s.group.ejection.OnEject, s.member.name)
	}
}

// count adds a result and returns what it makes of the status. A good result
// after a good one, the usual case, writes nothing.
func (s *stay) count(good bool) Status {
	thresholds := Thresholds{HealthyAfter: 1, UnhealthyAfter: s.group.ejection.Failures}
	for {
		before := s.status.Load()
		after := Status(before).After(good, thresholds)
		if before == int64(after) || s.status.CompareAndSwap(before, int64(after)) {
			return after
		}
	}
}

// eject ends a stay in, unless another request has ended it or too many backends
// are out: then the next failure tries again.
func (s *stay) eject() {
	if !s.group.reserve() {
		return
	}
	if !s.member.current.CompareAndSwap(s, s.ejected()) {
		s.group.out.Add(-1)
		return
	}
	tell(s.group.ejection.OnEject, s.member.name)
}

func (s *stay) ejected() *stay {
	return &stay{group: s.group, member: s.member, out: true, until: time.Now().Add(s.group.ejection.For)}
}

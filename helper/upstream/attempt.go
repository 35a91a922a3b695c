package upstream

import "gatehouse/helper/health"

// Attempt is one request's way through a pool: the backend it is with, and those
// it has tried. It is made to be a field of a per-request struct, so that no
// request allocates one; it must not be copied. The zero Attempt has tried none.
type Attempt struct {
	pool    *Pool
	set     *set
	backend *Backend // nil: it holds no place
	permit  health.Permit
	crowded bool // there was no connection left for it
	tried   []*Backend
	room    [3]*Backend // for tried: more attempts are rare
	mercy   mercy
	asked   bool // spare is what Options.Spare said
	spare   bool
}

// mercy is how far a request that finds no backend lowers its demands.
type mercy uint8

const (
	none     mercy = iota
	doubtful       // a backend that failed last will do, though it can't be made good if it does so again
	crowded        // a backend without room for another connection will do: the request waits there
	repeated       // and so will one that it has tried
)

// Pick chooses the backend of the next attempt and takes a place in it; nil means
// that none can take the request. key is what a picker by hash chooses by. The
// caller must Release what it got before it picks again.
func (p *Pool) Pick(a *Attempt, key uint64) *Backend {
	a.pool, a.set, a.asked = p, p.current.Load(), false
	picker := a.set.picker
	if len(a.tried) > 0 {
		picker = a.set.again
	}
	for a.mercy = none; a.mercy <= repeated; a.mercy++ {
		// The trial of an ejected backend can be lost to another request, once for
		// each backend: from then on it isn't offered.
		for range len(a.set.backends) + 1 {
			i := picker.Pick(a, key)
			if i < 0 {
				break
			}
			if a.set.group.Acquire(i, &a.permit) {
				return a.take(a.set.backends[i])
			}
		}
	}
	return nil
}

func (a *Attempt) take(b *Backend) *Backend {
	inFlight := b.acquire()
	a.backend, a.crowded = b, b.MaxConns > 0 && inFlight > b.MaxConns
	if a.tried == nil {
		a.tried = a.room[:0]
	}
	a.tried = append(a.tried, b)
	return b
}

// Load implements balance.Candidates.
func (a *Attempt) Load(i int) (inFlight int64, allowed bool) {
	b := a.set.backends[i]
	inFlight = b.inFlight.Load()
	if !a.set.up(i) || !a.set.group.Available(i) || b.Draining() {
		return inFlight, false
	}
	if a.mercy < doubtful && a.set.group.Failing(i) && !a.canSpare() {
		return inFlight, false
	}
	if a.mercy < crowded && b.MaxConns > 0 && inFlight >= b.MaxConns {
		return inFlight, false
	}
	if a.mercy < repeated {
		for _, t := range a.tried {
			if t == b {
				return inFlight, false
			}
		}
	}
	return inFlight, true
}

func (a *Attempt) canSpare() bool {
	if !a.asked {
		a.asked, a.spare = true, a.pool.options.Spare == nil || a.pool.options.Spare()
	}
	return a.spare
}

// Success reports that the backend did its work. Of the reports on one attempt
// the first counts.
func (a *Attempt) Success() { a.permit.Success() }

// Failure reports that the backend failed.
func (a *Attempt) Failure() { a.permit.Failure() }

// Trial says whether the attempt is the trial of an ejected backend.
func (a *Attempt) Trial() bool { return a.permit.Trial() }

// Yield gives the place of a trial to another request; what is reported later
// counts nothing. Alone of the methods it may be called on any goroutine.
func (a *Attempt) Yield() { a.permit.Yield() }

// Crowded says whether all connections of the backend were taken when it was
// picked, so that the attempt has to wait for one.
func (a *Attempt) Crowded() bool { return a.crowded }

// Release gives the place back. An attempt that wasn't reported on says nothing
// about its backend. It does nothing when the attempt holds no place.
func (a *Attempt) Release() {
	if a.backend == nil {
		return
	}
	a.permit.Neutral()
	a.backend.release()
	a.backend = nil
}

package upstream

import "gatehouse/helper/balance"

// Look returns the backend that the next request would get, and takes neither a
// place in it nor a turn; nil means that none could take it. A picker that draws
// lots may draw others for the request.
func (p *Pool) Look(key uint64) *Backend {
	a := Attempt{set: p.current.Load()}
	pick := a.set.picker.Pick
	if turns, ok := a.set.picker.(*balance.RoundRobin); ok {
		pick = turns.Peek
	}
	for a.mercy = none; a.mercy <= repeated; a.mercy++ {
		if i := pick(&a, key); i >= 0 {
			return a.set.backends[i]
		}
	}
	return nil
}

// Full says whether as many requests are in the pool as may be.
func (p *Pool) Full() bool {
	most := p.options.Concurrency
	return most > 0 && p.inFlight.Load() >= most
}

package lease

import (
	"time"

	"gatehouse/helper/limit"
)

// trip is the way of one request through the leases and the shared store.
type trip struct {
	store   *Store
	demands []limit.Demand
	parts   []part // one for each demand
	asks    []limit.Demand
}

// part is one demand's.
type part struct {
	lease   *lease // nil: there is no room for one
	leased  bool   // a token of the lease was put aside
	refused bool   // the lease knows that there is none
	ask     int    // the index in asks plus 1; 0: the shared store isn't asked
	fetches bool   // the lease's flag is this trip's to clear
}

// prepare answers from the leases, if that is possible, and says so. Otherwise it
// has put leased tokens aside, and asks has what the shared store is to answer.
func (t *trip) prepare(now time.Time) (answered bool) {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	refused := false
	for i := range t.demands {
		d, p := &t.demands[i], &t.parts[i]
		if p.lease = t.store.find(d.Key); p.lease == nil {
			continue
		}
		p.lease.count(now)
		switch l := p.lease; {
		case l.tokens > 0:
			l.tokens--
			p.leased = true
		case l.refuses(now):
			p.refused = true
			refused = refused || !d.Shadow
		}
	}
	if !refused {
		t.ask(now)
	}
	if len(t.asks) > 0 {
		return false
	}
	for i := range t.demands {
		d, p := &t.demands[i], &t.parts[i]
		d.Decision = d.Rule.Decision(0, 1) // nobody was asked, because another refuses
		if p.leased || p.refused {
			d.Decision = p.lease.answer(now, p.leased)
		}
		d.Taken = 0
		if p.leased {
			d.Taken = 1
		}
	}
	t.settle()
	return true
}

// ask collects what has no token, and what has few left: this request takes
// more, and the others use those in the meantime. Nothing is refused because
// there aren't more.
func (t *trip) ask(now time.Time) {
	for i := range t.demands {
		d, p := t.demands[i], &t.parts[i]
		if l := p.lease; l != nil {
			batch := l.batch(t.store.options.Most, d.Rule)
			enough := l.tokens > batch/2 || l.fetching || batch == 1 || now.Before(l.until)
			if p.refused || p.leased && enough {
				continue
			}
			if !l.fetching {
				l.fetching, p.fetches, d.Batch = true, true, batch
			}
		}
		d.Shadow = d.Shadow || p.leased
		t.asks = append(t.asks, d)
		p.ask = len(t.asks)
	}
}

// finish puts the shared store's answers into the demands and what is over into
// the leases.
func (t *trip) finish(now time.Time, err error) {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	for i := range t.demands {
		d, p := &t.demands[i], &t.parts[i]
		if p.fetches {
			p.lease.fetching = false
		}
		if p.ask > 0 && err == nil {
			t.merge(now, d, p)
		} else if p.lease != nil {
			d.Decision = p.lease.answer(now, p.leased)
		}
		if p.leased {
			d.Taken = 1
		}
	}
	if err != nil {
		t.putBack()
		return
	}
	t.settle()
}

func (t *trip) merge(now time.Time, d *limit.Demand, p *part) {
	answer := t.asks[p.ask-1]
	d.Decision, d.Taken = answer.Decision, min(1, answer.Taken)
	if p.lease == nil {
		return
	}
	over := answer.Taken
	if !p.leased && over > 0 {
		over--
	}
	p.lease.learn(now, answer.Decision, over)
	if p.leased {
		d.Decision = p.lease.answer(now, true)
	}
}

// settle gives the leased tokens back when the request is refused.
func (t *trip) settle() {
	if !limit.Settle(t.demands) {
		t.putBack()
	}
}

func (t *trip) putBack() {
	for i := range t.parts {
		if p := &t.parts[i]; p.leased {
			p.lease.tokens++
		}
	}
}

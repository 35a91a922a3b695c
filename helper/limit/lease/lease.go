package lease

import (
	"time"

	"gatehouse/helper/limit"
)

// lease is what an instance has of one bucket. The Store's lock guards it.
type lease struct {
	tokens   int
	taken    time.Time      // when the last of them were
	decision limit.Decision // the shared bucket's, then
	fetching bool           // a request is under way to take more
	refused  bool           // the last one got none
	until    time.Time      // then: before this, the shared bucket has none

	since        time.Time // the beginning of the time that seen counts
	seen, before int       // requests in this lifetime, and in the one before
}

// count notes a request and drops what is too old.
func (l *lease) count(now time.Time) {
	if age := now.Sub(l.since); age >= lifetime {
		l.before = l.seen
		if age >= 2*lifetime {
			l.before = 0
		}
		l.since, l.seen = now, 0
	}
	l.seen++
	if now.Sub(l.taken) >= lifetime {
		l.tokens = 0
	}
}

// refuses says whether the shared bucket needn't be asked: it can't have a token
// yet, or a request that asks it is under way.
func (l *lease) refuses(now time.Time) bool {
	return l.tokens == 0 && l.refused && (l.fetching || now.Before(l.until))
}

func (l *lease) idle(now time.Time) bool {
	return !l.fetching && now.Sub(l.since) >= 2*lifetime && now.Sub(l.taken) >= lifetime && !now.Before(l.until)
}

// batch is how many tokens to take: what half a lifetime needs.
func (l *lease) batch(most int, rule limit.Rule) int {
	return max(1, min(most, rule.Burst/4, max(l.seen, l.before)/2))
}

// answer is the decision about a request that has a token of the lease, or that
// the shared bucket would refuse.
func (l *lease) answer(now time.Time, allowed bool) limit.Decision {
	d := l.decision
	d.Allowed, d.Reset = allowed, max(0, d.Reset-now.Sub(l.taken))
	if allowed {
		d.RetryAfter, d.Remaining = 0, min(d.Limit, d.Remaining+l.tokens)
	} else {
		d.RetryAfter = max(1, l.until.Sub(now))
	}
	return d
}

// learn keeps what the shared bucket said, and the tokens that it gave beyond
// what the request needs.
func (l *lease) learn(now time.Time, d limit.Decision, tokens int) {
	if d.Allowed {
		l.decision, l.taken = d, now
		l.tokens += tokens
		l.refused = false
		return
	}
	if l.tokens == 0 {
		l.decision, l.taken, l.refused = d, now, true
		l.until = now.Add(d.RetryAfter)
	}
}

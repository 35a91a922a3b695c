package limit

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// maxFill bounds the time in which an empty bucket fills up. It keeps the sum of
// a Unix time in nanoseconds and a full bucket within an int64 until 2162.
const maxFill = 100 * 365 * 24 * time.Hour

// Rule is one limit: Burst requests at once, and then one each Interval. Make it
// with NewRule, at load: the zero Rule isn't valid.
type Rule struct {
	Name     string        // tells this rule's buckets from every other rule's
	Interval time.Duration // in which one token grows back; at least 1 ns
	Burst    int           // the most tokens a bucket holds; at least 1

	id [8]byte // the rule in a Key
}

// NewRule returns the rule that allows events per period on average and burst at
// once. All three must be at least 1, a rate at most 1e9 a second, and an empty
// bucket must fill up within a hundred years; the error names what is wrong. The
// interval is rounded up to a nanosecond: never more than the rate is allowed.
func NewRule(name string, events int, period time.Duration, burst int) (Rule, error) {
	switch {
	case events < 1 || period < 1:
		return Rule{}, fmt.Errorf("limit %s: rate must be positive, is %d per %s", name, events, period)
	case burst < 1:
		return Rule{}, fmt.Errorf("limit %s: burst must be at least 1, is %d", name, burst)
	case int64(events) > int64(period):
		return Rule{}, fmt.Errorf("limit %s: rate %d per %s is over one per nanosecond", name, events, period)
	}
	interval := (period-1)/time.Duration(events) + 1
	if int64(burst) > int64(maxFill/interval) {
		return Rule{}, fmt.Errorf("limit %s: burst %d at %d per %s takes over a hundred years to fill up", name, burst, events, period)
	}
	rule := Rule{Name: name, Interval: interval, Burst: burst}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", name, interval, burst))
	copy(rule.id[:], sum[:])
	return rule, nil
}

// Full is the time in which an empty bucket fills up.
func (r Rule) Full() time.Duration { return r.Interval * time.Duration(r.Burst) }

// Share is the rule for one of n instances that don't know of each other: rate
// and burst divided by n, the burst at least 1. It has the same buckets.
func (r Rule) Share(n int) Rule {
	if n <= 1 {
		return r
	}
	r.Burst = max(1, r.Burst/n)
	r.Interval = min(r.Interval, maxFill/time.Duration(r.Burst*n)) * time.Duration(n)
	return r
}

package limit

import (
	"sync/atomic"
	"time"
)

// Bucket is the single bucket of a rule that all requests share: a route's or an
// upstream's. It is one atomic number; its methods may be called concurrently.
type Bucket struct {
	rule  Rule
	start time.Time // the monotonic clock's zero
	tat   atomic.Int64
}

// NewBucket returns a full bucket.
func NewBucket(rule Rule) *Bucket {
	return &Bucket{rule: rule, start: time.Now()}
}

// Take asks for one token.
func (b *Bucket) Take() Decision {
	now := int64(time.Since(b.start))
	for {
		tat := b.tat.Load()
		next, d := Take(b.rule, tat, now, 1)
		if !d.Allowed || b.tat.CompareAndSwap(tat, next) {
			return d
		}
	}
}

// Return gives back the token of an allowed Take whose request another limit
// refused.
func (b *Bucket) Return() {
	b.tat.Add(-int64(b.rule.Interval))
}

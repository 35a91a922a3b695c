package retry

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	window    = 10 // seconds
	perSecond = 3  // retries that are always allowed
)

// Budget bounds the retries of one upstream: retries help with a backend that is
// down, and harm an upstream that is.
type Budget struct {
	ratio    float64
	start    time.Time // the monotonic clock's zero
	requests [window]slot

	mu      sync.Mutex // only a failing request takes it
	retries [window]struct{ second, count uint64 }
}

// NewBudget makes a budget of so many retries per request; 0 leaves the three a
// second that are always allowed.
func NewBudget(ratio float64) *Budget {
	return &Budget{ratio: ratio, start: time.Now()}
}

// Request counts a request, however many attempts it will take. It costs one
// reading of the clock and one atomic addition.
func (b *Budget) Request() {
	second := b.second()
	b.requests[second%window].add(second)
}

// Retry tells whether one more retry is within the budget, and if so counts it:
// it is among the first three of this second, or the retries of the last ten are
// with it no more than their share of the requests.
func (b *Budget) Retry() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	second := b.second()
	if !b.allows(second) {
		return false
	}
	now := &b.retries[second%window]
	if now.second != second {
		now.second, now.count = second, 0
	}
	now.count++
	return true
}

// Available tells whether Retry would allow one more, and counts nothing.
func (b *Budget) Available() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.allows(b.second())
}

func (b *Budget) allows(second uint64) bool {
	now := b.retries[second%window]
	return now.second != second || now.count < perSecond || float64(b.retried(second)+1) <= b.ratio*float64(b.requested(second))
}

// second is the running second, from window on: so that a slot that was never
// used belongs to none of the last ten.
func (b *Budget) second() uint64 { return uint64(time.Since(b.start)/time.Second) + window }

func (b *Budget) retried(second uint64) (sum uint64) {
	for _, r := range b.retries {
		if r.second+window > second {
			sum += r.count
		}
	}
	return sum
}

func (b *Budget) requested(second uint64) (sum uint64) {
	for i := range b.requests {
		sum += b.requests[i].within(second)
	}
	return sum
}

// slot counts the requests of one second: the second in the upper half, the
// count in the lower one, so that both change at once.
type slot struct{ atomic.Uint64 }

func (s *slot) add(second uint64) {
	for {
		old := s.Load()
		if old>>32 == second {
			s.Add(1)
			return
		}
		if s.CompareAndSwap(old, second<<32|1) {
			return
		}
	}
}

// within is the count, if it is of the window that ends with second.
func (s *slot) within(second uint64) uint64 {
	if old := s.Load(); old>>32+window > second {
		return old & (1<<32 - 1)
	}
	return 0
}

package breaker_test

import (
	"testing"
	"time"

	"gatehouse/helper/breaker"
)

// A trial that yields is over for the breaker: its place goes to the next request,
// once, and its late result counts nothing.
func TestATrialYields(t *testing.T) {
	b := breaker.New(breaker.Options{Failures: 1, OpenFor: time.Nanosecond, HalfOpenRequests: 1})
	var slow, next, third breaker.Permit
	b.Acquire(&slow)
	slow.Yield()
	if slow.Failure(); b.State() == breaker.Closed {
		t.Fatal("a permit that is no trial loses its say")
	}
	for !b.Acquire(&slow) {
	}
	if b.Acquire(&next) || !slow.Trial() {
		t.Fatal("there are two trials, or none")
	}
	slow.Yield()
	slow.Yield()
	slow.Failure()
	if !b.Acquire(&next) || b.Acquire(&third) {
		t.Fatal("the place wasn't given back once")
	}
	if next.Success(); b.State() != breaker.Closed {
		t.Errorf("the breaker is %s after a trial that succeeded", b.State())
	}
}

package health_test

import (
	"testing"

	"gatehouse/helper/health"
)

// A trial that yields gives its place to the next request, once, and its late
// result counts nothing.
func TestATrialYields(t *testing.T) {
	g := health.NewGroup(health.Ejection{Failures: 1, MaxPercent: 100}, []string{"a"}, nil)
	var slow, next, third health.Permit
	g.Acquire(0, &slow)
	slow.Yield()
	if slow.Failure(); !g.Ejected(0) {
		t.Fatal("a permit that is no trial loses its say")
	}
	if !g.Acquire(0, &slow) || g.Acquire(0, &next) || !slow.Trial() {
		t.Fatal("there are two trials, or none")
	}
	slow.Yield()
	slow.Yield()
	if !g.Acquire(0, &next) || g.Acquire(0, &third) {
		t.Fatal("the place wasn't given back once")
	}
	if slow.Success(); !g.Ejected(0) {
		t.Error("the late result counted")
	}
	if next.Success(); g.Ejected(0) {
		t.Error("the next trial doesn't count")
	}
}

package breaker_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/helper/breaker"
)

// Goroutines that ask for the one place at the same instant, again and again:
// each time one of them gets it.
func TestOneOfThoseThatAskAtOnceGetsTheTrial(t *testing.T) {
	const askers, rounds = 2, 20_000
	b := breaker.New(breaker.Options{Failures: 1, HalfOpenRequests: 1})
	play(t, b, "failure half-open")
	var arrived, admitted, wrong atomic.Int64
	meet := func(n int) {
		for arrived.Add(1); arrived.Load() < int64(n*askers); runtime.Gosched() {
		}
	}
	var group sync.WaitGroup
	for range askers {
		group.Go(func() {
			var p breaker.Permit
			for round := range rounds {
				meet(3*round + 1)
				if b.Acquire(&p) {
					admitted.Add(1)
				}
				meet(3*round + 2)
				if admitted.Load() != int64(round+1) {
					wrong.Store(1)
				}
				meet(3*round + 3)
				p.Neutral()
			}
		})
	}
	group.Wait()
	if wrong.Load() != 0 {
		t.Errorf("%d requests were admitted in %d rounds, and not one in each", admitted.Load(), rounds)
	}
}

// Neutral results change no state, so the places of one half-open period can be
// counted from outside, under as much traffic as there is.
func TestNeverMoreTrialsOutThanAllowed(t *testing.T) {
	const trials = 3
	b := breaker.New(breaker.Options{Failures: 1, HalfOpenRequests: trials})
	var p breaker.Permit
	b.Acquire(&p)
	p.Failure()

	var out, most, admitted atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			var p breaker.Permit
			for range 5000 {
				if !b.Acquire(&p) {
					continue
				}
				now := out.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				admitted.Add(1)
				out.Add(-1)
				p.Neutral()
			}
		})
	}
	group.Wait()
	if most.Load() > trials {
		t.Errorf("%d trials were out at once, want at most %d", most.Load(), trials)
	}
	if admitted.Load() == 0 {
		t.Error("no trial was admitted")
	}
	play(t, b, "half-open begin:a begin:b begin:c refused")
}

// With every result at random and no open time, transitions come as fast as
// they can, and the books must still balance.
func TestTransitionsAddUpUnderConcurrentTraffic(t *testing.T) {
	const failures, trials = 3, 2
	var moves [3][3]atomic.Int64 // [from][to]
	b := breaker.New(breaker.Options{Failures: failures, HalfOpenRequests: trials,
		OnTransition: func(from, to breaker.State) { moves[from][to].Add(1) }})
	var successes, failed atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			var p breaker.Permit
			for range 5000 {
				if !b.Acquire(&p) {
					continue
				}
				switch rand.IntN(3) {
				case 0:
					successes.Add(1)
					p.Success()
				case 1:
					failed.Add(1)
					p.Failure()
				}
				p.Neutral()
			}
		})
	}
	group.Wait()

	opened, reopened := moves[breaker.Closed][breaker.Open].Load(), moves[breaker.HalfOpen][breaker.Open].Load()
	tried, closed := moves[breaker.Open][breaker.HalfOpen].Load(), moves[breaker.HalfOpen][breaker.Closed].Load()
	var all int64
	for from := range moves {
		for to := range moves[from] {
			all += moves[from][to].Load()
		}
	}
	if all != opened+reopened+tried+closed {
		t.Errorf("there were transitions that don't exist: %v", &moves)
	}
	if d := opened - closed; d != 0 && d != 1 {
		t.Errorf("left closed %d times and came back %d times", opened, closed)
	}
	if d := opened + reopened - tried; d != 0 && d != 1 {
		t.Errorf("opened %d times and became half-open %d times", opened+reopened, tried)
	}
	if opened*failures+reopened > failed.Load() || closed*trials > successes.Load() {
		t.Errorf("opened %d, reopened %d, closed %d times on %d failures and %d successes",
			opened, reopened, closed, failed.Load(), successes.Load())
	}
	if opened == 0 || closed == 0 || reopened == 0 {
		t.Errorf("opened %d, reopened %d, closed %d times: nothing was tested", opened, reopened, closed)
	}
}

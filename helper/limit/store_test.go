package limit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/limit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is one bucket, however it is asked.
type store func() limit.Decision

// stores are the ways; each must pass every test of this file.
var stores = map[string]func(limit.Rule) store{
	"alone": func(rule limit.Rule) store {
		l, key := limit.NewLocal(limit.Options{}), stringKey(rule, "ada")
		return func() limit.Decision { return take(l, rule, key) }
	},
	"shared by all": func(rule limit.Rule) store {
		l, key := limit.NewLocal(limit.Options{}), rule.Key(limit.SharedSubject("orders"))
		return func() limit.Decision { return take(l, rule, key) }
	},
	"with others": func(rule limit.Rule) store {
		l, all := limit.NewLocal(limit.Options{}), roomy()
		return func() limit.Decision {
			demands := []limit.Demand{{Rule: all, Key: stringKey(all, "ada")}, {Rule: rule, Key: stringKey(rule, "ada")}, {Rule: all, Key: stringKey(all, "bob")}}
			l.Decide(demands)
			return demands[1].Decision
		}
	},
}

// roomy is a rule that refuses nothing.
func roomy() limit.Rule {
	rule, err := limit.NewRule("roomy", 1e9, time.Second, 1e9)
	if err != nil {
		panic(err)
	}
	return rule
}

// each runs a test on every store, in a bubble where time stands still until the
// test lets it pass.
func each(t *testing.T, test func(*testing.T, func(limit.Rule) store)) {
	for name, make := range stores {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, make) })
		})
	}
}

// pass lets time pass in the bubble.
func pass(d time.Duration) { <-time.After(d) }

// allowed counts how many of n requests pass.
func allowed(s store, n int) int {
	passed := 0
	for range n {
		if s().Allowed {
			passed++
		}
	}
	return passed
}

func TestAStoreDecidesAsThePureFunctionDoes(t *testing.T) {
	each(t, func(t *testing.T, make func(limit.Rule) store) {
		rule := newRule(t, 10, time.Second, 3)
		s, start, tat := make(rule), time.Now(), int64(0)
		for i := range 60 {
			pass(time.Duration(i*i%13) * 10 * ms)
			var want limit.Decision
			tat, want = limit.Take(rule, tat, int64(time.Since(start)), 1)
			if got := s(); got != want {
				t.Fatalf("call %d:\ngot  %+v\nwant %+v", i, got, want)
			}
		}
	})
}

func TestARefusedRequestDoesntPutOffTheNextToken(t *testing.T) {
	each(t, func(t *testing.T, make func(limit.Rule) store) {
		s := make(newRule(t, 1, time.Second, 1))
		s()
		for range 9 {
			pass(100 * ms)
			if s().Allowed {
				t.Fatal("a token came too early")
			}
		}
		pass(100 * ms)
		if !s().Allowed {
			t.Error("the token came too late")
		}
	})
}

func TestARateOfOneAnHourIsRememberedForAnHour(t *testing.T) {
	each(t, func(t *testing.T, make func(limit.Rule) store) {
		s := make(newRule(t, 1, time.Hour, 1))
		s()
		pass(2 * time.Minute)
		if d := s(); d.Allowed || d.RetryAfter != 58*time.Minute {
			t.Errorf("after two minutes: %+v", d)
		}
		pass(58 * time.Minute)
		if !s().Allowed {
			t.Error("after an hour the token isn't there")
		}
	})
}

func TestConcurrentRequestsNeverPassTheLimit(t *testing.T) {
	each(t, func(t *testing.T, make func(limit.Rule) store) {
		const burst = 50
		s := make(newRule(t, 100, time.Second, burst))
		for round, want := range []int{burst, 10, 10, burst} {
			var passed atomic.Int64
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() { passed.Add(int64(allowed(s, 200))) })
			}
			group.Wait()
			if got := int(passed.Load()); got != want {
				t.Fatalf("round %d: %d passed, want %d", round, got, want)
			}
			pass([]time.Duration{100 * ms, 100 * ms, time.Hour, 0}[round])
		}
	})
}

// In real time, with the clock running on while goroutines race.
func TestUnderRealTimeNoMorePassThanRateAndBurst(t *testing.T) {
	rule := newRule(t, 100_000, time.Second, 100)
	for name, make := range stores {
		t.Run(name, func(t *testing.T) {
			start, s := time.Now(), make(rule)
			var passed atomic.Int64
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() { passed.Add(int64(allowed(s, 5000))) })
			}
			group.Wait()
			most := int64(rule.Burst) + int64(time.Since(start)/rule.Interval)
			if got := passed.Load(); got > most || got < int64(rule.Burst) {
				t.Errorf("%d passed, want between %d and %d", got, rule.Burst, most)
			}
		})
	}
}

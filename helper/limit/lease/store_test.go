package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/limit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var errAway = errors.New("connection refused")

// shared is the store of all instances, a millisecond away.
type shared struct {
	local *limit.Local
	calls atomic.Int64
	away  atomic.Bool
}

func newShared() *shared { return &shared{local: limit.NewLocal(limit.Options{})} }

func (s *shared) Check(context.Context) error { return nil }

func (s *shared) Decide(_ context.Context, demands []limit.Demand) error {
	pass(ms / 2)
	defer pass(ms / 2)
	s.calls.Add(1)
	if s.away.Load() {
		return errAway
	}
	s.local.Decide(demands)
	return nil
}

// pass lets time pass in a bubble.
func pass(d time.Duration) { <-time.After(d) }

func newRule(t *testing.T, events int, period time.Duration, burst int) limit.Rule {
	t.Helper()
	rule, err := limit.NewRule(fmt.Sprintf("%d/%s", events, period), events, period, burst)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// ask asks each bucket for a token.
func ask(t *testing.T, s *Store, demands ...limit.Demand) bool {
	t.Helper()
	if err := s.Decide(t.Context(), demands); err != nil {
		t.Error(err)
	}
	granted := limit.Granted(demands)
	for _, d := range demands {
		want := 0
		if granted && d.Decision.Allowed {
			want = 1
		}
		if d.Taken != want || d.Decision.Allowed == (d.Decision.RetryAfter > 0) || d.Decision.Limit != d.Rule.Burst ||
			d.Decision.Remaining < 0 || d.Decision.Remaining > d.Rule.Burst || d.Decision.Reset < 0 {
			t.Errorf("granted %v with %+v", granted, d)
		}
	}
	return granted
}

func demand(rule limit.Rule, subject string) limit.Demand {
	return limit.Demand{Rule: rule, Key: stringKey(rule, subject)}
}

func TestAKeyThatIsntBusyIsDecidedInTheSharedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote, rule := newShared(), newRule(t, 10, time.Second, 10)
		s := New(Options{Remote: remote, Most: 50})
		for range 20 {
			ask(t, s, demand(rule, "ada"))
			pass(200 * ms)
		}
		if got := remote.calls.Load(); got != 20 {
			t.Errorf("%d calls for 20 requests", got)
		}
	})
}

func TestABusyKeyCostsFewRoundTrips(t *testing.T) {
	const requests = 10_000
	for _, row := range []struct {
		name   string
		events int
		passes bool
	}{{"within its limit", 5000, true}, {"far over its limit", 20, false}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				remote, rule := newShared(), newRule(t, row.events, time.Second, row.events)
				s, passed := New(Options{Remote: remote, Most: 50}), 0
				for range requests {
					if ask(t, s, demand(rule, "ada")) {
						passed++
					}
					pass(ms / 2)
				}
				calls := remote.calls.Load()
				t.Logf("%d passed, %d calls", passed, calls)
				if calls > requests/10 {
					t.Errorf("%d calls for %d requests", calls, requests)
				}
				if row.passes != (passed == requests) || passed < row.events {
					t.Errorf("%d of %d passed", passed, requests)
				}
			})
		})
	}
}

// Three instances, random traffic on several keys, some requests with two
// demands: no key passes its limit, from any moment on.
func TestTheTotalOverAllInstancesNeverPassesTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newShared()
		own, all := newRule(t, 300, time.Second, 60), newRule(t, 500, time.Second, 100)
		start := time.Now()
		var passed [4]atomic.Int64
		var group sync.WaitGroup
		for instance := range 3 {
			s := New(Options{Remote: remote, Most: 20})
			for g := range 8 {
				group.Go(func() {
					random := rand.New(rand.NewPCG(uint64(instance), uint64(g)))
					for range 1500 {
						subject := random.IntN(4)
						if ask(t, s, demand(own, fmt.Sprint(subject)), limit.Demand{Rule: all, Key: all.Key(limit.SharedSubject("all"))}) {
							passed[subject].Add(1)
						}
						pass(time.Duration(random.IntN(4)) * ms)
					}
				})
			}
		}
		group.Wait()
		lasted, total := time.Since(start), int64(0)
		for subject := range passed {
			n := passed[subject].Load()
			total += n
			if most := int64(own.Burst) + int64(lasted/own.Interval); n > most {
				t.Errorf("%d of subject %d passed in %s, want at most %d", n, subject, lasted, most)
			}
		}
		most := int64(all.Burst) + int64(lasted/all.Interval)
		t.Logf("%d of at most %d passed in %s, with %d calls for 36000 requests", total, most, lasted, remote.calls.Load())
		if total > most || total < most*3/4 {
			t.Errorf("%d passed, want at most %d and most of it", total, most)
		}
	})
}

func TestARefusedRequestLeavesTheOtherTokensWhereTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote, roomy, tight := newShared(), newRule(t, 1, time.Hour, 1000), newRule(t, 1, time.Hour, 1)
		s := New(Options{Remote: remote, Most: 10})
		for range 40 { // it becomes busy, and is leased
			ask(t, s, demand(roomy, "ada"))
		}
		ask(t, s, demand(tight, "ada"))
		for range 30 {
			if ask(t, s, demand(roomy, "ada"), demand(tight, "ada")) {
				t.Fatal("the tight bucket gave two tokens")
			}
		}
		s.mu.Lock()
		leased := s.leases[stringKey(roomy, "ada")].tokens
		s.mu.Unlock()
		look := demand(roomy, "ada")
		remote.local.Decide([]limit.Demand{look})
		demands := []limit.Demand{look}
		remote.local.Decide(demands)
		if got := demands[0].Decision.Remaining + leased; got != 1000-40-2 {
			t.Errorf("%d are left, want %d", got, 1000-40-2)
		}
	})
}

func TestAShadowBucketRefusesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, rule, tight := New(Options{Remote: newShared(), Most: 10}), newRule(t, 1e6, time.Second, 1000), newRule(t, 1, time.Hour, 1)
		for range 100 {
			shadow := demand(tight, "ada")
			shadow.Shadow = true
			if !ask(t, s, demand(rule, "ada"), shadow) {
				t.Fatal("it was refused")
			}
		}
	})
}

func TestAnErrorOfTheSharedStoreIsPassedOnAndLosesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote, rule := newShared(), newRule(t, 1, time.Hour, 1000)
		s := New(Options{Remote: remote, Most: 10})
		for range 40 {
			ask(t, s, demand(rule, "ada"))
		}
		remote.away.Store(true)
		failed := 0
		for range 20 {
			if err := s.Decide(t.Context(), []limit.Demand{demand(rule, "ada")}); errors.Is(err, errAway) {
				failed++
			}
		}
		if failed == 0 {
			t.Error("no error was passed on")
		}
		remote.away.Store(false)
		if !ask(t, s, demand(rule, "ada")) {
			t.Error("refused after the shared store came back")
		}
	})
}

func TestIdleLeasesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, rule := New(Options{Remote: newShared(), Most: 10}), newRule(t, 10, time.Second, 100)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		for n := range 500 {
			ask(t, s, demand(rule, fmt.Sprint(n)))
		}
		pass(3 * time.Second)
		s.mu.Lock()
		if got := len(s.leases); got != 0 {
			t.Errorf("%d leases are kept", got)
		}
		s.mu.Unlock()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func stringKey(rule limit.Rule, s string) limit.Key {
	return rule.Key(limit.StringSubject("subject", s))
}

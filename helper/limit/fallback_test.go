package limit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/limit"
)

// remote is a shared store that fails and hangs as a test wants it to.
type remote struct {
	local *limit.Local
	fails atomic.Pointer[error]
	hangs atomic.Bool
	calls atomic.Int64
}

func (r *remote) Decide(ctx context.Context, demands []limit.Demand) error {
	r.calls.Add(1)
	if err := r.Check(ctx); err != nil {
		return err
	}
	r.local.Decide(demands)
	return nil
}

func (r *remote) Check(ctx context.Context) error {
	if r.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := r.fails.Load(); err != nil {
		return *err
	}
	return nil
}

func (r *remote) fail(err error) { r.fails.Store(&err) }

// stage is a Fallback between a remote and a local store, three instances sharing
// 30 tokens.
type stage struct {
	*limit.Fallback
	remote  *remote
	rule    limit.Rule
	mu      sync.Mutex
	changes []string
}

const timeout = 20 * ms

func play(t *testing.T, story func(*testing.T, *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{remote: &remote{local: limit.NewLocal(limit.Options{})}, rule: newRule(t, 1, time.Hour, 30)}
		s.Fallback = limit.NewFallback(limit.FallbackOptions{
			Remote: s.remote, Local: limit.NewLocal(limit.Options{}), Instances: 3, Timeout: timeout,
			Changed: func(remote bool, cause error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				if remote {
					s.changes = append(s.changes, "remote")
				} else {
					s.changes = append(s.changes, "local: "+cause.Error())
				}
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		story(t, s)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
}

// ask asks for a token; the result is how many are left, -1 when it is refused.
func (s *stage) ask(subject string) int {
	demands := []limit.Demand{{Rule: s.rule, Key: stringKey(s.rule, subject)}}
	s.Decide(demands)
	if !demands[0].Decision.Allowed {
		return -1
	}
	return demands[0].Decision.Remaining
}

func (s *stage) told(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range max(len(want), len(s.changes)) {
		if len(want) != len(s.changes) || want[i] != s.changes[i] {
			t.Fatalf("told %q, want %q", s.changes, want)
		}
	}
}

var errRefused = errors.New("connection refused")

func TestWhileTheRemoteStoreAnswersItDecides(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		synctest.Wait()
		if got := s.ask("ada"); got != 29 {
			t.Errorf("%d are left, want 29 of 30", got)
		}
		s.told(t, "remote")
	})
}

func TestARemoteStoreThatIsAwayAtStartIsToldOnceAndUsedWhenItComes(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		s.remote.fail(errRefused)
		pass(time.Minute)
		if got := s.ask("ada"); got != 9 {
			t.Errorf("%d are left, want 9 of a third of 30", got)
		}
		s.told(t, "local: connection refused")
		s.remote.fails.Store(nil)
		pass(2 * time.Second)
		if got := s.ask("ada"); got != 29 {
			t.Errorf("%d are left, want 29 of 30", got)
		}
		s.told(t, "local: connection refused", "remote")
	})
}

func TestAFailedCallIsDecidedLocallyAndAFewEndThePeriod(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		synctest.Wait()
		s.remote.fail(errRefused)
		s.ask("ada")
		s.ask("ada")
		s.remote.fails.Store(nil)
		s.ask("ada") // the row of failures is broken
		s.told(t, "remote")
		s.remote.fail(errRefused)
		for want := 7; want >= 0; want-- {
			if got := s.ask("ada"); got != want {
				t.Fatalf("%d are left, want %d", got, want)
			}
		}
		if got := s.ask("ada"); got != -1 {
			t.Errorf("%d are left, want a refusal: the share is used up", got)
		}
		if got := s.remote.calls.Load(); got != 6 {
			t.Errorf("%d calls, want 6: it is left alone after three failures", got)
		}
		s.told(t, "remote", "local: connection refused")
	})
}

// Requests come each millisecond, from the moment at which the store hangs.
func TestAStoreThatHangsCostsAFewRequestsOneTimeout(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		synctest.Wait()
		s.remote.hangs.Store(true)
		var group sync.WaitGroup
		var slow atomic.Int64
		for i := range 10_000 {
			group.Go(func() {
				start := time.Now()
				s.ask("ada")
				switch took := time.Since(start); {
				case took > timeout:
					t.Errorf("request %d took %s", i, took)
				case took > 0:
					slow.Add(1)
				}
			})
			pass(ms)
		}
		group.Wait()
		if got := slow.Load(); got > 30 {
			t.Errorf("%d requests waited", got)
		}
		s.told(t, "remote", "local: context deadline exceeded")
		s.remote.hangs.Store(false)
		pass(2 * time.Second)
		s.told(t, "remote", "local: context deadline exceeded", "remote")
	})
}

// A store that answers, but later than a request can wait, isn't used.
func TestAStoreThatIsTooSlowIsntUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := slowRemote{delay: 2 * timeout}
		f := limit.NewFallback(limit.FallbackOptions{Remote: &slow, Local: limit.NewLocal(limit.Options{}), Instances: 1, Timeout: timeout,
			Changed: func(remote bool, _ error) {
				if remote {
					t.Error("it is used")
				}
			}})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := f.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

type slowRemote struct{ delay time.Duration }

func (r *slowRemote) Decide(ctx context.Context, _ []limit.Demand) error { return r.Check(ctx) }

func (r *slowRemote) Check(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(r.delay):
		return nil
	}
}

func TestShare(t *testing.T) {
	for _, row := range []struct {
		name      string
		burst, of int
		want      int
		interval  time.Duration
	}{
		{"one instance has all", 10, 1, 10, time.Second},
		{"three have a third each, rounded down", 10, 3, 3, 3 * time.Second},
		{"a burst is at least one", 2, 5, 1, 5 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			rule := newRule(t, 1, time.Second, row.burst)
			got := rule.Share(row.of)
			if got.Burst != row.want || got.Interval != row.interval || stringKey(got, "ada") != stringKey(rule, "ada") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

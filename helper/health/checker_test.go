package health_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/health"
)

// script is a backend that answers its checks with one character each, the last
// one for ever: + is 200, - is 503, x a broken connection, and h hangs until the
// check is given up.
type script struct {
	start   time.Time
	answers string

	mu    sync.Mutex
	times []time.Duration // of the checks, since start
}

func (s *script) asked() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	answer := s.answers[min(len(s.times), len(s.answers)-1)]
	s.times = append(s.times, time.Since(s.start))
	s.mu.Unlock()
	status := http.StatusOK
	switch answer {
	case 'h':
		<-r.Context().Done()
		return nil, r.Context().Err()
	case 'x':
		return nil, errBroken
	case '-':
		status = http.StatusServiceUnavailable
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("well")), Request: r}, nil
}

var errBroken = errors.New("broken")

var checks = health.Checks{
	Interval:   5 * time.Second,
	Timeout:    time.Second,
	Thresholds: health.Thresholds{HealthyAfter: 2, UnhealthyAfter: 3},
	Expect:     func(status int) bool { return 200 <= status && status <= 399 },
}

// run begins to check backends with these answers; stop ends it and waits.
func run(t *testing.T, c health.Checks, previous *health.Checker, answers ...string) (checker *health.Checker, scripts []*script, stop func()) {
	t.Helper()
	var targets []health.Target
	for i, name := range names(len(answers)) {
		scripts = append(scripts, &script{start: time.Now(), answers: answers[i]})
		address, err := url.Parse(name + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, health.Target{Name: name, URL: address, Transport: scripts[i]})
	}
	checker = health.NewChecker(c, targets, previous)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if err := checker.Run(ctx); err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
	return checker, scripts, func() { cancel(); group.Wait() }
}

func ready(c *health.Checker) bool {
	select {
	case <-c.Ready():
		return true
	default:
		return false
	}
}

func TestChecksTakeABackendOutAndBringItBack(t *testing.T) {
	tests := []struct {
		name, answers string
		want          string // after each check
	}{
		{"the first good one is enough", "+", "UUUU"},
		{"the first bad one is enough", "-", "DDDD"},
		{"later three bad ones are needed", "+---", "UUUD"},
		{"and two good ones to come back", "+---++", "UUUDDU"},
		{"also after a bad first one", "-++", "DDU"},
		{"a good one in between starts the count again", "+--+--+", "UUUUUUU"},
		{"a broken connection is a bad one", "+xxx", "UUUD"},
		{"no answer in time is a bad one", "+hhh", "UUUD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checker, scripts, stop := run(t, checks, nil, test.answers)
				got := ""
				for len(got) < len(test.want) {
					pass(checks.Timeout / 4)
					if len(scripts[0].asked()) > len(got) {
						pass(checks.Timeout + 1) // it may hang
						if checker.Up(0) {
							got += "U"
						} else {
							got += "D"
						}
					}
				}
				stop()
				if got != test.want {
					t.Errorf("after each check it was %s, want %s", got, test.want)
				}
			})
		})
	}
}

func TestReadyIsTheFirstResultOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checker, _, stop := run(t, checks, nil, "+", "h", "-")
		defer stop()
		synctest.Wait()
		if ready(checker) {
			t.Error("ready though one hasn't answered")
		}
		if !checker.Up(0) || !checker.Up(1) || checker.Up(2) {
			t.Error("up is not: what answered well, and what hasn't answered yet")
		}
		pass(checks.Timeout)
		synctest.Wait()
		if !ready(checker) || checker.Up(1) {
			t.Error("a check that was given up is not a result")
		}
	})
}

func TestWithNothingToCheckItIsReady(t *testing.T) {
	if !ready(health.NewChecker(checks, nil, nil)) {
		t.Error("not ready")
	}
}

func TestASlowBackendDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := checks
		slow.Timeout = time.Minute // far longer than the interval
		_, scripts, stop := run(t, slow, nil, "h", "+")
		pass(time.Minute - 1)
		stop()
		if hung, well := len(scripts[0].asked()), len(scripts[1].asked()); hung != 1 || well < 12 {
			t.Errorf("in a minute the hanging one was asked %d times, the other %d times, want 12", hung, well)
		}
	})
}

func TestChecksComeALittleEarlyAndNeverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, scripts, stop := run(t, checks, nil, "+h+h+h+h+h+", "+")
		pass(time.Hour)
		stop()
		for i, s := range scripts {
			asked, gaps := s.asked(), map[time.Duration]bool{}
			for j := range len(asked) - 1 {
				gap := asked[j+1] - asked[j]
				if gaps[gap] = true; gap > checks.Interval || gap < checks.Interval*9/10 {
					t.Errorf("backend %d: %s between two checks", i, gap)
				}
			}
			if asked[0] != 0 || len(gaps) < len(asked)/2 {
				t.Errorf("backend %d: first asked after %s, then in %d different intervals of %d", i, asked[0], len(gaps), len(asked)-1)
			}
		}
		if slices.Equal(scripts[0].asked()[1:], scripts[1].asked()[1:]) {
			t.Error("both were always asked at the same moment")
		}
	})
}

// failing is well until a time, and then refuses.
type failing struct{ from time.Time }

func (f failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if time.Now().Before(f.from) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	}
	return nil, errBroken
}

func TestABackendThatDiesIsOutInTime(t *testing.T) {
	for after := range 50 {
		synctest.Test(t, func(t *testing.T) {
			died := time.Now().Add(time.Minute + time.Duration(after)*100*time.Millisecond)
			out := make(chan time.Time, 1)
			c := checks
			c.OnChange = func(string, error) { out <- time.Now() }
			checker := health.NewChecker(c, []health.Target{{Name: "a", URL: &url.URL{Scheme: "http", Host: "a"}, Transport: failing{died}}}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- checker.Run(ctx) }()
			if took := (<-out).Sub(died); took < 0 || took > checks.Interval*3 {
				t.Errorf("it was out after %s, want within %s", took, checks.Interval*3)
			}
			cancel()
			<-done
		})
	}
}

func TestOnChangeSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []error
		c := checks
		c.OnChange = func(name string, cause error) {
			if name != names(1)[0] {
				t.Errorf("it names %q", name)
			}
			heard = append(heard, cause)
		}
		_, _, stop := run(t, c, nil, "x++--x++--h++---+")
		pass(20 * c.Interval)
		stop()
		if len(heard) != 8 {
			t.Fatalf("heard %v, want four times down and up again", heard)
		}
		if !errors.Is(heard[0], errBroken) || !errors.Is(heard[2], errBroken) || !errors.Is(heard[4], context.DeadlineExceeded) || !strings.Contains(heard[6].Error(), "status 503") {
			t.Errorf("down because of %v, %v, %v, %v", heard[0], heard[2], heard[4], heard[6])
		}
		if heard[1] != nil || heard[3] != nil || heard[5] != nil || heard[7] != nil {
			t.Errorf("up because of something: %v", heard)
		}
	})
}

func TestTheEndOfTheChecksIsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := checks
		c.OnChange = func(string, error) { t.Error("a change was told") }
		checker, _, stop := run(t, c, nil, "h")
		synctest.Wait()
		stop()
		if !checker.Up(0) || ready(checker) {
			t.Error("the check that was cut off counts")
		}
	})
}

func TestTheNextCheckerBeginsWhereThisOneStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		previous, _, stop := run(t, checks, nil, "-", "+", "h")
		synctest.Wait()
		stop() // the third has no result yet
		next, _, stop := run(t, checks, previous, "+", "-")
		if !ready(next) || next.Up(0) || !next.Up(1) {
			t.Error("what was known isn't")
		}
		pass(3*checks.Interval + 1)
		if !next.Up(0) || next.Up(1) {
			t.Error("it didn't go on to count")
		}
		stop()
		more, _, stop := run(t, checks, previous, "-", "+", "h")
		synctest.Wait()
		if ready(more) {
			t.Error("ready though a backend has never had a result")
		}
		stop()
	})
}

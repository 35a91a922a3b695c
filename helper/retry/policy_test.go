package retry_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// defaults is the policy of a config that says nothing about retries.
func defaults() retry.Policy {
	return retry.Policy{
		Attempts: 2,
		On:       []retry.Kind{retry.Connect, retry.Reset, retry.Status},
		Statuses: []int{502, 503, 504},
		Methods:  []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"},
		Backoff:  25 * time.Millisecond,
	}
}

func TestPolicy(t *testing.T) {
	unsafe := func(p *retry.Policy) { p.UnsafeOnConnect = true }
	tests := []struct {
		name    string
		edit    func(*retry.Policy)
		failure retry.Failure
		want    bool
	}{
		{"a GET whose connection was refused", nil, retry.Failure{Method: "GET", Kind: retry.Connect}, true},
		{"a GET whose connection was reset", nil, retry.Failure{Method: "GET", Kind: retry.Reset}, true},
		{"a GET that was answered 503", nil, retry.Failure{Method: "GET", Kind: retry.Status, Status: 503}, true},
		{"a GET that was answered 500, which isn't listed", nil, retry.Failure{Method: "GET", Kind: retry.Status, Status: 500}, false},
		{"a GET that timed out, which isn't listed", nil, retry.Failure{Method: "GET", Kind: retry.Timeout}, false},
		{"a GET that timed out where that is listed", func(p *retry.Policy) { p.On = append(p.On, retry.Timeout) }, retry.Failure{Method: "GET", Kind: retry.Timeout}, true},
		{"a GET that was refused where that isn't listed", func(p *retry.Policy) { p.On = []retry.Kind{retry.Reset} }, retry.Failure{Method: "GET", Kind: retry.Connect}, false},
		{"a PUT with its whole body", nil, retry.Failure{Method: "PUT", Kind: retry.Reset}, true},
		{"a POST that was reset", nil, retry.Failure{Method: "POST", Kind: retry.Reset}, false},
		{"a POST that was refused", nil, retry.Failure{Method: "POST", Kind: retry.Connect}, false},
		{"a POST that was answered 503", nil, retry.Failure{Method: "POST", Kind: retry.Status, Status: 503}, false},
		{"a POST that was refused where that is safe for all", unsafe, retry.Failure{Method: "POST", Kind: retry.Connect}, true},
		{"a POST that was reset where only a refusal is safe for all", unsafe, retry.Failure{Method: "POST", Kind: retry.Reset}, false},
		{"a POST that was refused, where connect isn't listed at all", func(p *retry.Policy) { p.On, p.UnsafeOnConnect = nil, true }, retry.Failure{Method: "POST", Kind: retry.Connect}, false},
		{"a POST where it is listed", func(p *retry.Policy) { p.Methods = []string{"POST"} }, retry.Failure{Method: "POST", Kind: retry.Reset}, true},
		{"a method in another case is another method", nil, retry.Failure{Method: "get", Kind: retry.Reset}, false},
		{"after a byte went to the client", nil, retry.Failure{Method: "GET", Kind: retry.Reset, Answered: true}, false},
		{"after the last attempt", nil, retry.Failure{Method: "GET", Kind: retry.Connect, Attempt: 2}, false},
		{"the second of three attempts", func(p *retry.Policy) { p.Attempts = 3 }, retry.Failure{Method: "GET", Kind: retry.Connect, Attempt: 2}, true},
		{"one attempt is no retry", func(p *retry.Policy) { p.Attempts = 1 }, retry.Failure{Method: "GET", Kind: retry.Connect}, false},
		{"the zero policy allows nothing", func(p *retry.Policy) { *p = retry.Policy{} }, retry.Failure{Method: "GET", Kind: retry.Connect}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			policy, failure := defaults(), test.failure
			if test.edit != nil {
				test.edit(&policy)
			}
			failure.Attempt = max(1, failure.Attempt)
			if policy.Allows(failure) {
				t.Errorf("Allows(%+v) though its body can't be sent again", failure)
			}
			failure.Replayable = true
			if got := policy.Allows(failure); got != test.want {
				t.Errorf("Allows(%+v) is %v", failure, got)
			}
		})
	}
}

// Whatever happened, a POST that may have been sent isn't sent again by default.
func TestAPostIsNeverSentTwiceByDefault(t *testing.T) {
	policy := defaults()
	for _, kind := range []retry.Kind{retry.Connect, retry.Reset, retry.Timeout, retry.Status} {
		for status := range 600 {
			if policy.Allows(retry.Failure{Method: http.MethodPost, Attempt: 1, Kind: kind, Status: status, Replayable: true}) {
				t.Errorf("kind %d, status %d: allowed", kind, status)
			}
		}
	}
}

func TestThePauseIsRandomUpToTheBackoffAndItsDoublings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for attempt, longest := range map[int]time.Duration{1: 25 * time.Millisecond, 2: 50 * time.Millisecond, 4: 200 * time.Millisecond, 100: 25600 * time.Millisecond} {
			policy := defaults()
			shortestSeen, longestSeen := time.Hour, time.Duration(0)
			for range 1000 {
				start := time.Now()
				if err := policy.Wait(t.Context(), attempt); err != nil {
					t.Fatal(err)
				}
				shortestSeen, longestSeen = min(shortestSeen, time.Since(start)), max(longestSeen, time.Since(start))
			}
			if longestSeen > longest || longestSeen < longest*9/10 || shortestSeen > longest/10 {
				t.Errorf("before the one after attempt %d: from %s to %s, want 0s to %s", attempt, shortestSeen, longestSeen, longest)
			}
		}
	})
}

func TestAPauseEndsWithItsRequest(t *testing.T) {
	stalled := errors.New("the client stalled")
	tests := []struct {
		name    string
		backoff time.Duration
		context func(context.Context) (context.Context, func())
		want    error
		took    time.Duration
	}{
		{"no backoff is no pause", 0, func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, time.Nanosecond)
		}, nil, 0},
		{"a pause past the deadline isn't begun", 1000 * time.Hour, func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, time.Millisecond)
		}, context.DeadlineExceeded, 0},
		{"a request that is over waits for nothing", 0, func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(stalled)
			return ctx, func() {}
		}, stalled, 0},
		{"a client that goes away ends the pause", 1000 * time.Hour, func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			timer := time.AfterFunc(time.Millisecond, func() { cancel(stalled) })
			return ctx, func() { timer.Stop() }
		}, stalled, time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := test.context(t.Context())
				defer end()
				start := time.Now()
				policy := retry.Policy{Backoff: test.backoff}
				if err := policy.Wait(ctx, 1); !errors.Is(err, test.want) {
					t.Errorf("Wait returned %v, want %v", err, test.want)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
			})
		})
	}
}

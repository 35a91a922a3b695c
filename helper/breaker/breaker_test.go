package breaker_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/breaker"
)

// A story is a list of words: success, failure and neutral are a request that
// must be admitted and ends so; refused is one that must be refused; begin:a is
// one that must be admitted and goes on as a, until success:a, failure:a or
// neutral:a; wait lets OpenFor pass, almost all of it but a nanosecond; closed,
// half-open and open check the state.
func TestStories(t *testing.T) {
	tests := []struct {
		name     string
		failures int
		trials   int
		story    string
	}{
		{"a new breaker is closed", 3, 1, "closed success"},
		{"as many failures in a row as configured open it", 3, 1, "failure failure closed failure open refused"},
		{"one failure is enough where it says one", 1, 1, "failure open"},
		{"a success in between starts the count again", 3, 1, "failure failure success failure failure closed failure open"},
		{"a neutral result neither counts nor starts the count again", 2, 1, "failure neutral neutral failure open"},
		{"no failure opens a breaker that is off", 0, 0, "failure failure failure failure failure failure closed"},
		{"it stays open to the last nanosecond", 1, 1, "failure almost open refused"},
		{"when its time is over the next request is a trial", 1, 1, "failure wait half-open begin:a half-open refused"},
		{"a trial that succeeds closes it", 1, 1, "failure wait success closed success success"},
		{"a trial that fails opens it for its full time again", 1, 1, "failure wait failure open almost refused"},
		{"a trial that ends neutral gives its place to the next", 1, 1, "failure wait begin:a refused neutral:a half-open success closed"},
		{"however many trials end neutral, the next is admitted", 1, 1, "failure wait neutral neutral neutral neutral half-open success closed"},
		{"two trials may be out at once", 1, 2, "failure wait begin:a begin:b refused"},
		{"a success keeps its place until the state changes", 1, 2, "failure wait begin:a success:a begin:b refused half-open success:b closed"},
		{"one failure among the trials opens it", 1, 3, "failure wait success success failure open refused"},
		{"the failures from before it opened are forgotten when it closes", 2, 1, "failure failure wait success failure closed failure open"},
		{"a late failure of the closed state doesn't end the half-open one", 1, 1, "begin:slow failure wait begin:a failure:slow half-open success:a closed"},
		{"a late failure of the closed state doesn't count in the next closed one", 1, 1, "begin:slow failure wait success failure:slow closed"},
		{"a late success of the closed state doesn't close an open breaker", 1, 1, "begin:slow failure success:slow open wait begin:a"},
		{"a late neutral of the closed state frees no trial's place", 1, 1, "begin:slow failure wait begin:a neutral:slow refused"},
		{"a late trial has no say in the next half-open state", 1, 2, "failure wait begin:slow failure open wait begin:a success:slow half-open success:a half-open success closed"},
		{"a late failing trial doesn't prolong the open state", 1, 2, "failure wait begin:slow failure almost failure:slow almost half-open success success closed"},
		{"a second report of the same request is not heard", 2, 1, "begin:a failure:a failure:a failure:a success:a closed failure open"},
		{"a second neutral frees no second place", 1, 2, "failure wait begin:a begin:b neutral:a neutral:a begin:c refused"},
		{"an open breaker that nobody asks is half-open once its time is over", 1, 1, "failure wait wait wait half-open"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				play(t, breaker.New(breaker.Options{Failures: test.failures, OpenFor: openFor, HalfOpenRequests: test.trials}), test.story)
			})
		})
	}
}

const openFor = 30 * time.Second

// pass lets time pass in the bubble.
func pass(d time.Duration) { <-time.After(d) }

func play(t *testing.T, b *breaker.Breaker, story string) {
	t.Helper()
	running := map[string]*breaker.Permit{}
	for i, word := range strings.Fields(story) {
		verb, name, named := strings.Cut(word, ":")
		switch verb {
		case "wait":
			pass(openFor)
			continue
		case "almost":
			pass(openFor - 1)
			continue
		case "closed", "half-open", "open":
			if got := b.State().String(); got != verb {
				t.Fatalf("word %d of %q: state is %s", i+1, story, got)
			}
			continue
		}
		if verb == "begin" || !named {
			running[name] = new(breaker.Permit)
			for range 2 { // asking takes nothing
				if b.Admits() != (verb != "refused") {
					t.Fatalf("word %d of %q: Admits says otherwise", i+1, story)
				}
			}
			if got, want := b.Acquire(running[name]), verb != "refused"; got != want {
				t.Fatalf("word %d of %q: admitted is %v", i+1, story, got)
			}
		}
		report(running[name], verb)
	}
}

func report(p *breaker.Permit, result string) {
	switch result {
	case "success":
		p.Success()
	case "failure":
		p.Failure()
	case "neutral":
		p.Neutral()
	}
}

func TestRetryAfterIsTheRemainingOpenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Options{Failures: 1, OpenFor: openFor, HalfOpenRequests: 1})
		for _, step := range []struct {
			story string
			pass  time.Duration
			want  time.Duration
		}{
			{"closed", 0, 0},
			{"failure", 0, openFor},
			{"refused", 12 * time.Second, 18 * time.Second},
			{"refused", 18 * time.Second, 0},
			{"half-open", time.Hour, 0},
			{"begin:a refused", 0, 0},
		} {
			play(t, b, step.story)
			pass(step.pass)
			if got := b.RetryAfter(); got != step.want {
				t.Errorf("after %q and %s: RetryAfter is %s, want %s", step.story, step.pass, got, step.want)
			}
		}
	})
}

func TestForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Options{Failures: 1, OpenFor: openFor, HalfOpenRequests: 1})
		play(t, b, "failure")
		b.Force(breaker.Auto)
		play(t, b, "open refused") // nothing was forced, so nothing changes

		b.Force(breaker.ForcedClosed)
		play(t, b, "closed failure failure failure closed")

		b.Force(breaker.ForcedOpen)
		if !b.Forced() {
			t.Error("nobody holds it")
		}
		play(t, b, "open refused wait wait refused open")
		if got := b.RetryAfter(); got != openFor {
			t.Errorf("RetryAfter while forced open is %s, want %s", got, openFor)
		}

		b.Force(breaker.Auto)
		if b.Forced() {
			t.Error("somebody holds it")
		}
		play(t, b, "closed success failure open wait success closed")
	})
}

func TestForceIsTheLastWordOverRunningRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Options{Failures: 1, OpenFor: openFor, HalfOpenRequests: 1})
		play(t, b, "failure wait")
		var trial breaker.Permit
		if !b.Acquire(&trial) {
			t.Fatal("the trial was refused")
		}
		b.Force(breaker.ForcedOpen)
		trial.Success()
		play(t, b, "open refused")
	})
}

func TestOnTransitionHearsEachChangeOnceAndMayUseTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *breaker.Breaker
		var heard []string
		b = breaker.New(breaker.Options{Failures: 1, OpenFor: openFor, HalfOpenRequests: 1,
			OnTransition: func(from, to breaker.State) {
				heard = append(heard, from.String()+">"+to.String())
				if got := b.State(); got != to {
					t.Errorf("in the hook the state is %s, want %s", got, to)
				}
			}})
		play(t, b, "failure refused wait half-open failure refused wait success")
		b.Force(breaker.ForcedClosed) // closed before and after: no change
		b.Force(breaker.ForcedOpen)
		b.Force(breaker.Auto)
		want := "closed>open open>half-open half-open>open open>half-open half-open>closed closed>open open>closed"
		if got := strings.Join(heard, " "); got != want {
			t.Errorf("heard %s\nwant  %s", got, want)
		}
	})
}

// A hundred requests at the moment the open time ends: as many pass as may.
func TestExactlyTheTrialsPassOfAHundredAtOnce(t *testing.T) {
	for _, trials := range []int{1, 7} {
		synctest.Test(t, func(t *testing.T) {
			b := breaker.New(breaker.Options{Failures: 1, OpenFor: openFor, HalfOpenRequests: trials})
			play(t, b, "failure wait")
			var admitted atomic.Int64
			var group sync.WaitGroup
			for range 100 {
				group.Go(func() {
					if b.Acquire(new(breaker.Permit)) {
						admitted.Add(1)
					}
				})
			}
			group.Wait()
			if got := admitted.Load(); got != int64(trials) {
				t.Errorf("%d of 100 were admitted, want %d", got, trials)
			}
		})
	}
}

func TestAPermitThatIsUsedAgainGivesBackWhatItHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Options{Failures: 1, OpenFor: openFor, HalfOpenRequests: 1})
		play(t, b, "failure wait")
		var p breaker.Permit
		if first, again := b.Acquire(&p), b.Acquire(&p); !first || !again {
			t.Fatal("the one trial's place was lost")
		}
		p.Success()
		play(t, b, "closed")
	})
}

func TestTheZeroPermitReportsNothing(t *testing.T) {
	var p breaker.Permit
	p.Success()
	p.Failure()
	p.Neutral()
}

func TestNewRefusesWhatCouldNeverCloseAgain(t *testing.T) {
	for name, options := range map[string]breaker.Options{
		"no trials":         {Failures: 1, OpenFor: openFor},
		"negative failures": {Failures: -1, OpenFor: openFor, HalfOpenRequests: 1},
		"negative time":     {Failures: 1, OpenFor: -1, HalfOpenRequests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("New didn't panic")
				}
			}()
			breaker.New(options)
		})
	}
}

package health_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/health"
)

const outFor = 30 * time.Second

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "http://order-" + strconv.Itoa(i) + ":8080"
	}
	return list
}

// pass lets time pass in the bubble.
func pass(d time.Duration) { <-time.After(d) }

// play tells a story about a group. Each word is about a backend, by its index:
// 0+, 0- and 0~ are a request that must be admitted and ends in success, failure
// or neutral; 0! is one that must be refused; 0(a begins request a, which a+, a-
// or a~ ends; 0in and 0out check whether the backend is ejected; wait lets the
// time out pass, almost all of it but a nanosecond.
func play(t *testing.T, g *health.Group, story string) {
	t.Helper()
	running := map[string]*health.Permit{}
	for i, word := range strings.Fields(story) {
		switch word {
		case "wait":
			pass(outFor)
			continue
		case "almost":
			pass(outFor - 1)
			continue
		}
		subject, verb := word[:1], word[1:]
		if permit := running[subject]; permit != nil {
			report(permit, verb)
			continue
		}
		index, permit := int(subject[0]-'0'), new(health.Permit)
		if verb == "in" || verb == "out" {
			if got := g.Ejected(index); got != (verb == "out") {
				t.Fatalf("word %d of %q: ejected is %v", i+1, story, got)
			}
			continue
		}
		available, admitted := g.Available(index), g.Acquire(index, permit)
		if want := verb != "!"; available != want || admitted != want {
			t.Fatalf("word %d of %q: available is %v, admitted %v", i+1, story, available, admitted)
		}
		if name, begins := strings.CutPrefix(verb, "("); begins {
			running[name] = permit
		}
		report(permit, verb)
	}
}

func report(p *health.Permit, result string) {
	switch result {
	case "+":
		p.Success()
	case "-":
		p.Failure()
	case "~":
		p.Neutral()
	}
}

func TestStories(t *testing.T) {
	tests := []struct {
		name       string
		failures   int
		backends   int
		maxPercent int
		story      string
	}{
		{"three failures in a row eject", 3, 2, 50, "0- 0- 0in 0- 0out 0! 1+ 1in"},
		{"a success in between starts the count again", 3, 2, 50, "0- 0- 0+ 0- 0- 0in 0- 0out"},
		{"a neutral result neither counts nor starts the count again", 2, 2, 50, "0- 0~ 0- 0out"},
		{"it stays out to the last nanosecond", 1, 2, 50, "0- almost 0!"},
		{"then one request is the trial, and no other", 1, 2, 50, "0- wait 0(a 0! 0! 0out"},
		{"a trial that succeeds brings it back", 1, 2, 50, "0- wait 0+ 0in 0+"},
		{"a trial that fails ejects it for the full time again", 1, 2, 50, "0- wait 0- 0out almost 0!"},
		{"a trial that ends neutral gives its place to the next", 1, 2, 50, "0- wait 0(a 0! a~ 0~ 0~ 0+ 0in"},
		{"back in it takes as many failures as ever", 2, 2, 50, "0- 0- wait 0+ 0- 0in 0- 0out"},
		{"a late result from before the ejection changes nothing", 1, 2, 50, "0(a 0(b 0- a+ 0out wait 0(c b- 0! c+ 0in"},
		{"a late failure from before the ejection doesn't count when it is back", 1, 2, 50, "0(a 0- wait 0+ a- 0in"},
		{"a second report of the same trial is not heard", 1, 2, 50, "0- wait 0(a a- a+ a~ 0out 0!"},
		{"one of two may be out at 50 percent", 1, 2, 50, "0- 1- 1- 0out 1in"},
		{"the only one is never out at 50 percent", 1, 1, 50, "0- 0- 0- 0in"},
		{"one of three at 50 percent", 1, 3, 50, "0- 1- 2- 0out 1in 2in"},
		{"all at 100 percent", 1, 2, 100, "0- 1- 0out 1out 0! 1!"},
		{"none at 0 percent", 1, 3, 0, "0- 1- 2- 0in 1in 2in"},
		{"a backend on trial still counts as out", 1, 2, 50, "0- wait 0(a 1- 1in a+ 1- 1out"},
		{"one that couldn't be ejected is so by its next failure once there is room", 2, 2, 50, "0- 0- 1- 1- 1in wait 0+ 1- 1out"},
		{"but not after a success of its own", 2, 2, 50, "0- 0- 1- 1- 1in 1+ wait 0+ 1- 1in"},
		{"failures: 0 turns it off", 0, 2, 100, "0- 0- 0- 0- 0- 0in"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				play(t, health.NewGroup(health.Ejection{Failures: test.failures, For: outFor, MaxPercent: test.maxPercent}, names(test.backends), nil), test.story)
			})
		})
	}
}

func TestTheNextGroupBeginsWhereThisOneStands(t *testing.T) {
	ejection := health.Ejection{Failures: 2, For: outFor, MaxPercent: 100}
	tests := []struct {
		name          string
		before        string // told to backends 0, 1 and 2
		edit          func(*health.Ejection)
		kept          []int // the backends of the next group, in its order
		after         string
		ejectedBefore bool
	}{
		{"an ejected one stays out for the rest of its time", "0- 0-", nil, []int{0, 1}, "0out almost 0! wait 0+ 0in", true},
		{"backends are known by name, not by place", "0- 0-", nil, []int{2, 0}, "0in 1out", true},
		{"failures so far count", "1- ", nil, []int{0, 1}, "1- 1out", false},
		{"a new one is fresh", "0- 0-", nil, []int{1, 7}, "0in 1in 1- 1in", true},
		{"a smaller share lets some back in", "0- 0- 1- 1-", func(e *health.Ejection) { e.MaxPercent = 50 }, []int{0, 1, 2}, "0out 1in", true},
		{"a shorter time counts from now", "0- 0-", func(e *health.Ejection) { e.For = time.Second }, []int{0, 1}, "0! almost 0+", true},
		{"turned off, all are in", "0- 0-", func(e *health.Ejection) { e.Failures = 0 }, []int{0, 1}, "0in 0- 0-", true},
		{"a trial that is out is given to the next group's first request", "0- 0- wait 0(a", nil, []int{0}, "0(b 0! b+ 0in", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				previous := health.NewGroup(ejection, names(3), nil)
				play(t, previous, test.before)
				next, all, kept := ejection, names(8), []string(nil)
				if test.edit != nil {
					test.edit(&next)
				}
				for _, i := range test.kept {
					kept = append(kept, all[i])
				}
				play(t, health.NewGroup(next, kept, previous), test.after)
				if got := previous.Ejected(0); got != test.ejectedBefore {
					t.Errorf("in the previous group backend 0 is ejected: %v", got)
				}
			})
		})
	}
}

func TestTheHooksHearEachChangeOnceAndMayUseTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *health.Group
		var heard []string
		hear := func(what string, out bool) func(string) {
			return func(name string) {
				heard = append(heard, what+" "+name)
				if g.Ejected(0) != out {
					t.Errorf("in the hook for %s, ejected is %v", what, !out)
				}
			}
		}
		g = health.NewGroup(health.Ejection{Failures: 1, For: outFor, MaxPercent: 100, OnEject: hear("out", true), OnReturn: hear("in", false)}, []string{"a"}, nil)
		play(t, g, "0+ 0- 0! wait 0- wait 0~ 0+ 0+")
		if want := []string{"out a", "out a", "in a"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
	})
}

func TestExactlyOneOfAHundredIsTheTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := health.NewGroup(health.Ejection{Failures: 1, For: outFor, MaxPercent: 100}, names(1), nil)
		play(t, g, "0- wait")
		var admitted atomic.Int64
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() {
				if g.Acquire(0, new(health.Permit)) {
					admitted.Add(1)
				}
			})
		}
		group.Wait()
		if got := admitted.Load(); got != 1 {
			t.Errorf("%d were admitted", got)
		}
	})
}

func TestAPermitThatIsUsedAgainGivesBackWhatItHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := health.NewGroup(health.Ejection{Failures: 1, For: outFor, MaxPercent: 100}, names(2), nil)
		play(t, g, "0- wait")
		var p health.Permit
		if !g.Acquire(0, &p) || !g.Acquire(1, &p) {
			t.Fatal("not admitted")
		}
		play(t, g, "0+ 0in")
	})
}

func TestFailingIsWhoFailedLastAndIsIn(t *testing.T) {
	g := health.NewGroup(health.Ejection{Failures: 2, For: time.Hour, MaxPercent: 100}, []string{"a"}, nil)
	report := func(good bool) {
		var p health.Permit
		g.Acquire(0, &p)
		if good {
			p.Success()
		} else {
			p.Failure()
		}
	}
	for i, step := range []struct{ good, failing bool }{{true, false}, {false, true}, {true, false}, {false, true}, {false, false}} { // then it is out
		if report(step.good); g.Failing(0) != step.failing {
			t.Errorf("step %d: failing is %v", i, g.Failing(0))
		}
	}
}

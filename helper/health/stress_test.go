package health_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/health"
)

// groupModel is a group as one would write it down first.
type groupModel struct {
	ejection health.Ejection
	backends []modelBackend
}

type modelBackend struct {
	stay     int
	out      bool
	since    time.Time
	trial    bool
	failures int
}

func (m *groupModel) acquire(i int) (stay int, ok bool) {
	b := &m.backends[i]
	if b.out {
		if b.trial || time.Since(b.since) < m.ejection.For {
			return 0, false
		}
		b.trial = true
	}
	return b.stay, true
}

func (m *groupModel) report(i, stay int, result string) {
	b := &m.backends[i]
	if b.stay != stay {
		return
	}
	change := func(out bool) { *b = modelBackend{stay: b.stay + 1, out: out, since: time.Now()} }
	switch {
	case b.out && result == "+":
		change(false)
	case b.out && result == "-":
		change(true)
	case b.out:
		b.trial = false
	case result == "+":
		b.failures = 0
	case result == "-":
		b.failures++
		out := 1
		for _, other := range m.backends {
			if other.out {
				out++
			}
		}
		if b.failures >= m.ejection.Failures && 100*out <= m.ejection.MaxPercent*len(m.backends) {
			change(true)
		}
	}
}

func TestTheGroupAgreesWithTheModel(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) { agree(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func agree(t *testing.T, random *rand.Rand) {
	ejection := health.Ejection{Failures: 1 + random.IntN(3), For: time.Duration(1+random.IntN(3)) * time.Second, MaxPercent: 10 * random.IntN(11)}
	n := 1 + random.IntN(5)
	g, m := health.NewGroup(ejection, names(n), nil), &groupModel{ejection, make([]modelBackend, n)}
	type request struct {
		permit      *health.Permit
		index, stay int
	}
	var running []request
	for step := range 400 {
		switch what := random.IntN(10); {
		case what < 5:
			r := request{permit: new(health.Permit), index: random.IntN(n)}
			available, got := g.Available(r.index), g.Acquire(r.index, r.permit)
			stay, want := m.acquire(r.index)
			if got != want || available != want {
				t.Fatalf("step %d: available is %v, admitted %v, the model says %v", step, available, got, want)
			}
			if r.stay = stay; got {
				running = append(running, r)
			}
		case what < 9 && len(running) > 0:
			i := random.IntN(len(running))
			result := string("+--~"[random.IntN(4)])
			report(running[i].permit, result)
			m.report(running[i].index, running[i].stay, result)
			running = append(running[:i], running[i+1:]...)
		default:
			pass(time.Duration(random.Int64N(int64(time.Second))))
		}
		for i := range n {
			if got, want := g.Ejected(i), m.backends[i].out; got != want {
				t.Fatalf("step %d: ejected is %v, the model says %v", step, got, want)
			}
		}
	}
}

const most = 3 // of eight at 40 percent

func ejected(g *health.Group, backends int) (n int) {
	for i := range backends {
		if g.Ejected(i) {
			n++
		}
	}
	return n
}

// failAll makes so many requests at once, to random backends, most of which fail.
func failAll(g *health.Group, backends, requests int, each func()) {
	var group sync.WaitGroup
	for seed := range uint64(8) {
		group.Go(func() {
			random, permit := rand.New(rand.NewPCG(seed, 0)), new(health.Permit)
			for range requests / 8 {
				if g.Acquire(random.IntN(backends), permit) {
					report(permit, string("+---~"[random.IntN(5)]))
				}
				each()
			}
			permit.Neutral()
		})
	}
	group.Wait()
}

func TestNeverMoreThanTheShareIsOut(t *testing.T) {
	for range 50 {
		g := health.NewGroup(health.Ejection{Failures: 2, For: time.Hour, MaxPercent: 40}, names(8), nil)
		failAll(g, 8, 400, func() {
			if n := ejected(g, 8); n > most {
				t.Errorf("%d of 8 are out, want %d at most", n, most)
			}
		})
		if n := ejected(g, 8); n != most {
			t.Errorf("in the end %d of 8 are out, want %d", n, most)
		}
	}
}

// Backends go out and come back all the time; after that there are as many places
// as ever.
func TestNoPlaceIsLostOrInvented(t *testing.T) {
	var changes atomic.Int64
	change := func(string) { changes.Add(1) }
	g := health.NewGroup(health.Ejection{Failures: 2, MaxPercent: 40, OnEject: change, OnReturn: change}, names(8), nil)
	failAll(g, 8, 160_000, func() {})
	if changes.Load() < 1000 {
		t.Errorf("%d changes: the test shows nothing", changes.Load())
	}
	for i := range 8 {
		for range 4 {
			var permit health.Permit
			g.Acquire(i, &permit)
			permit.Failure()
		}
	}
	if n := ejected(g, 8); n != most {
		t.Errorf("when all fail %d of 8 are out, want %d", n, most)
	}
}

func TestAskingAllocatesNothing(t *testing.T) {
	g, permit := health.NewGroup(health.Ejection{Failures: 5, For: outFor, MaxPercent: 50}, names(3), nil), new(health.Permit)
	if n := testing.AllocsPerRun(100, func() {
		g.Available(1)
		g.Acquire(1, permit)
		permit.Success()
	}); n != 0 {
		t.Errorf("a request allocates %v times", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	g := health.NewGroup(health.Ejection{Failures: 5, For: outFor, MaxPercent: 50}, names(3), nil)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		permit := new(health.Permit)
		for pb.Next() {
			if g.Available(1) && g.Acquire(1, permit) {
				permit.Success()
			}
		}
	})
}

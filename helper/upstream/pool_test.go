package upstream_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"gatehouse/helper/balance"
	"gatehouse/helper/health"
	"gatehouse/helper/upstream"
)

func backend(t testing.TB, url string) *upstream.Backend {
	t.Helper()
	b, err := upstream.NewBackend(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inTurn are the options of a pool that takes these backends in turn and ejects
// one after its first failure.
func inTurn(t testing.TB, names ...string) upstream.Options {
	t.Helper()
	o := upstream.Options{
		Picker:   func(_ []string, weights []int) balance.Picker { return balance.NewRoundRobin(weights) },
		Ejection: health.Ejection{Failures: 1, For: time.Hour, MaxPercent: 100},
	}
	for _, name := range names {
		o.Members = append(o.Members, upstream.Member{Backend: backend(t, "http://"+name), Weight: 1})
	}
	return o
}

// picks are the backends of n requests that end at once.
func picks(p *upstream.Pool, n int) (names []string) {
	for range n {
		var a upstream.Attempt
		b := p.Pick(&a, 0)
		if b == nil {
			names = append(names, "none")
			continue
		}
		a.Success()
		a.Release()
		names = append(names, b.Name[len("http://"):])
	}
	return names
}

func TestBackendsAreTakenInTurnButForThoseThatMayNotBeUsed(t *testing.T) {
	fail := func(p *upstream.Pool) {
		var a upstream.Attempt
		p.Pick(&a, 0)
		a.Failure()
		a.Release()
	}
	for _, row := range []struct {
		name  string
		spoil func(*upstream.Pool)
		want  string
	}{
		{"all are well", func(*upstream.Pool) {}, "[a b c a]"},
		{"one is draining", func(p *upstream.Pool) { p.Backends()[1].Drain(true) }, "[a c a c]"},
		{"one drained and is back", func(p *upstream.Pool) { p.Backends()[1].Drain(true); p.Backends()[1].Drain(false) }, "[a b c a]"},
		{"one was ejected", func(p *upstream.Pool) { fail(p) }, "[b c b c]"},
		{"all were ejected", func(p *upstream.Pool) { fail(p); fail(p); fail(p) }, "[none none none none]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := upstream.NewPool(inTurn(t, "a", "b", "c"), nil)
			row.spoil(p)
			if got := fmt.Sprint(picks(p, 4)); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestARequestTriesEachBackendBeforeOneTwice(t *testing.T) {
	p := upstream.NewPool(inTurn(t, "a", "b", "c"), nil)
	var a upstream.Attempt
	seen := map[string]int{}
	for range 3 {
		seen[p.Pick(&a, 0).Name]++
		a.Release()
	}
	if len(seen) != 3 {
		t.Fatalf("three attempts went to %v", seen)
	}
	if p.Pick(&a, 0) == nil {
		t.Error("the fourth attempt has no backend")
	}
	a.Release()
}

func TestAFullBackendIsTakenOnlyWhereAllAreFull(t *testing.T) {
	o := inTurn(t, "a", "b")
	o.Members[0].Backend.MaxConns, o.Members[1].Backend.MaxConns = 1, 2
	p := upstream.NewPool(o, nil)
	held := make([]upstream.Attempt, 4)
	var got []string
	for i := range held {
		got = append(got, p.Pick(&held[i], 0).Name)
	}
	if fmt.Sprint(got[:3]) != "[http://a http://b http://b]" || got[3] == "" {
		t.Errorf("got %v", got)
	}
	for i := range held {
		held[i].Release()
	}
	for _, b := range p.Backends() {
		if b.InFlight() != 0 {
			t.Errorf("%s has %d in flight", b.Name, b.InFlight())
		}
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	o := inTurn(t, "a")
	o.Concurrency = 2
	p := upstream.NewPool(o, nil)
	for i, want := range []bool{true, true, false} {
		if got := p.Enter(); got != want {
			t.Errorf("request %d: let in is %v, want %v", i+1, got, want)
		}
	}
	p.Leave()
	if !p.Enter() {
		t.Error("a place that was given back is lost")
	}
}

func TestAnotherPoolTakesOverWhatIsKnown(t *testing.T) {
	o := inTurn(t, "a", "b")
	o.Ejection.MaxPercent = 50
	first := upstream.NewPool(o, nil)
	var a upstream.Attempt
	first.Pick(&a, 0)
	a.Failure()
	a.Release()
	o.Members = append(o.Members, upstream.Member{Backend: backend(t, "http://c"), Weight: 1})
	o.Members[1].Backend.Drain(true)
	second := upstream.NewPool(o, first)
	if got := fmt.Sprint(picks(second, 3)); got != "[c c c]" {
		t.Errorf("got %s: a was ejected and b is draining", got)
	}
	if second.Usable("http://a") || second.Usable("http://b") || !second.Usable("http://c") || !second.Usable("") {
		t.Error("Usable says otherwise")
	}
}

func TestURLsAreUnderstood(t *testing.T) {
	for url, want := range map[string]string{
		"http://a:80/base": "http://a:80/base", "h2c://a:1": "http://a:1", "unix:/run/a.sock": "http://localhost", "https://[::1]:2": "https://[::1]:2",
	} {
		b := backend(t, url)
		if b.Name != url || b.Target.String() != want {
			t.Errorf("%s leads to %s", url, b.Target)
		}
	}
	if upstream.Socket("unix:/run/a.sock") != "/run/a.sock" || upstream.Socket("http://a") != "" {
		t.Error("the socket of a URL")
	}
	if _, err := upstream.NewBackend("http://[", http.DefaultTransport); err == nil {
		t.Error("garbage is a URL")
	}
}

func TestAPickAllocatesNothing(t *testing.T) {
	p := upstream.NewPool(inTurn(t, "a", "b", "c"), nil)
	a := new(upstream.Attempt)
	if n := testing.AllocsPerRun(100, func() {
		*a = upstream.Attempt{}
		p.Pick(a, 0)
		a.Success()
		a.Release()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPick(b *testing.B) {
	p := upstream.NewPool(inTurn(b, "a", "b", "c"), nil)
	a := new(upstream.Attempt)
	b.ReportAllocs()
	for b.Loop() {
		*a = upstream.Attempt{}
		p.Pick(a, 0)
		a.Success()
		a.Release()
	}
}

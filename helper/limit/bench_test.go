package limit_test

import (
	"testing"
	"time"

	"gatehouse/helper/limit"
)

func TestADecisionAllocatesNothing(t *testing.T) {
	rule := newRule(t, 1000, time.Second, 1000)
	l, addr := limit.NewLocal(limit.Options{}), client(1)
	for name, call := range map[string]func(){
		"Local by address": func() { take(l, rule, addrKey(rule, addr)) },
		"Local by string": func() {
			take(l, rule, stringKey(rule, "https://identity.example.com 4f1c9a52-0d5e-4d0c-9d55-1c9d1f6d7a10"))
		},
	} {
		if n := testing.AllocsPerRun(1000, call); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	rule, tat, now := newRule(b, 1000, time.Second, 1000), int64(0), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 100
		tat, _ = limit.Take(rule, tat, now, 1)
	}
}

func BenchmarkLocal(b *testing.B) {
	l, rule := limit.NewLocal(limit.Options{}), newRule(b, 1e6, time.Second, 1000)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n = (n + 1) % 10_000
		take(l, rule, addrKey(rule, client(n)))
	}
}

func BenchmarkLocalParallel(b *testing.B) {
	l, rule := limit.NewLocal(limit.Options{}), newRule(b, 1e6, time.Second, 1000)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n = (n + 1) % 10_000 {
			take(l, rule, addrKey(rule, client(n)))
		}
	})
}

// BenchmarkLocalFull is the worst case: each request is a new client's and the
// store is full, so each evicts.
func BenchmarkLocalFull(b *testing.B) {
	l, rule := limit.NewLocal(limit.Options{MaxEntries: 100_000}), newRule(b, 1, time.Hour, 10)
	n := 0
	for ; n < 200_000; n++ {
		take(l, rule, addrKey(rule, client(n)))
	}
	b.ReportAllocs()
	for b.Loop() {
		n++
		take(l, rule, addrKey(rule, client(n)))
	}
}

func BenchmarkStringKey(b *testing.B) {
	rule := newRule(b, 1, time.Second, 1)
	b.ReportAllocs()
	for b.Loop() {
		stringKey(rule, "4f1c9a52-0d5e-4d0c-9d55-1c9d1f6d7a10")
	}
}

package balance_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gatehouse/helper/balance"
)

func TestAPickAllocatesNothing(t *testing.T) {
	for kind, newPicker := range pickers {
		picker, candidates := newPicker([]int{2, 1, 1}, rand.Uint64), &fixed{inFlight: [16]int64{1, 1, 1}}
		for _, c := range []balance.Candidates{balance.All{}, candidates, down(0)} {
			if n := testing.AllocsPerRun(100, func() { picker.Pick(c, 7) }); n != 0 {
				t.Errorf("a pick by %s allocates %v times", kind, n)
			}
		}
	}
}

// fixed is as cheap as a pool's own candidates.
type fixed struct {
	away     uint64
	inFlight [16]int64
}

func (f *fixed) Load(i int) (int64, bool) { return f.inFlight[i], f.away>>i&1 == 0 }

func BenchmarkPick(b *testing.B) {
	benchmarks := []struct {
		name    string
		weights []int
		away    uint64
	}{
		{"3 equal", []int{1, 1, 1}, 0},
		{"3 equal, one away", []int{1, 1, 1}, 0b10},
		{"3 weighted", []int{2, 1, 3}, 0},
		{"16 equal", slices.Repeat([]int{1}, 16), 0},
	}
	for _, kind := range []string{"RoundRobin", "LeastRequests", "RandomTwo", "Hash"} {
		for _, benchmark := range benchmarks {
			b.Run(kind+"/"+benchmark.name, func(b *testing.B) {
				picker, candidates := pickers[kind](benchmark.weights, rand.Uint64), &fixed{away: benchmark.away}
				b.ReportAllocs()
				key := uint64(0)
				for b.Loop() {
					key++
					picker.Pick(candidates, key)
				}
			})
		}
	}
}

package balance_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/helper/balance"
)

// pickers are the implementations; each must pass every test of this file.
var pickers = map[string]func(weights []int, random func() uint64) balance.Picker{
	"RoundRobin":    func(w []int, _ func() uint64) balance.Picker { return balance.NewRoundRobin(w) },
	"LeastRequests": func(w []int, r func() uint64) balance.Picker { return balance.NewLeastRequests(w, r) },
	"RandomTwo":     func(w []int, r func() uint64) balance.Picker { return balance.NewRandomTwo(w, r) },
	"Hash":          func(w []int, _ func() uint64) balance.Picker { return balance.NewHash(names(len(w)), w) },
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "http://order-" + strconv.Itoa(i+1) + ":8080"
	}
	return list
}

// pool is candidates that are down or have requests in flight.
type pool struct {
	down     map[int]bool
	inFlight []int64
}

func (p *pool) Load(i int) (int64, bool) {
	if p.inFlight == nil {
		return 0, !p.down[i]
	}
	return p.inFlight[i], !p.down[i]
}

func down(indexes ...int) *pool {
	p := &pool{down: map[int]bool{}}
	for _, i := range indexes {
		p.down[i] = true
	}
	return p
}

func seeded() func() uint64 { return rand.NewPCG(1, 2).Uint64 }

func key(i int) uint64 { return balance.Key("203.0.113." + strconv.Itoa(i)) }

// tolerance is what chi-squared stays under for up to six backends, but for one
// time in 100,000; sources and keys are fixed, so that it is passed always or never.
const tolerance = 30

func TestEachBackendGetsItsShare(t *testing.T) {
	const picks = 30000
	tests := []struct {
		name    string
		weights []int
		down    []int
	}{
		{"one backend gets everything", []int{1}, nil},
		{"three equal ones get a third each", []int{1, 1, 1}, nil},
		{"of three equal ones one is down: a half each", []int{1, 1, 1}, []int{1}},
		{"of three equal ones two are down: the last gets everything", []int{1, 1, 1}, []int{0, 1}},
		{"weights count", []int{5, 1, 1}, nil},
		{"weights count among those that are left", []int{3, 2, 1}, []int{0}},
		{"the heavy one is down: the light ones share equally", []int{5, 1, 1}, []int{0}},
		{"two neighbours of six are down", []int{1, 1, 1, 1, 1, 1}, []int{2, 3}},
		{"a common factor changes nothing", []int{300, 200, 100}, []int{1}},
		{"a backend of weight 0 gets nothing", []int{2, 0, 1}, nil},
		{"a backend of weight 0 gets nothing though the others are down", []int{1, 0}, []int{0}},
		{"a negative weight is as good as 0", []int{1, -1}, nil},
		{"all are down", []int{1, 2}, []int{0, 1}},
		{"none has weight", []int{0, 0}, nil},
		{"there is none", nil, nil},
	}
	for kind, newPicker := range pickers {
		for _, test := range tests {
			t.Run(kind+"/"+test.name, func(t *testing.T) {
				candidates, picker := down(test.down...), newPicker(test.weights, seeded())
				counts := map[int]int{}
				for i := range picks {
					counts[picker.Pick(candidates, key(i))]++
				}
				total := 0
				for i, w := range test.weights {
					if w > 0 && !candidates.down[i] {
						total += w
					}
				}
				if total == 0 {
					if counts[-1] != picks {
						t.Errorf("picked %v, want -1 always", counts)
					}
					return
				}
				chi, expected := 0.0, 0
				for i, w := range test.weights {
					if w > 0 && !candidates.down[i] {
						want := picks * float64(w) / float64(total)
						chi += (float64(counts[i]) - want) * (float64(counts[i]) - want) / want
						expected += counts[i]
					}
				}
				if expected != picks || chi > tolerance {
					t.Errorf("picked %v, chi-squared %.1f", counts, chi)
				}
			})
		}
	}
}

// fickle are candidates that change their mind: from the given call on, or
// at every call.
type fickle struct {
	calls, until int
	random       func() uint64
}

func (f *fickle) Load(int) (int64, bool) {
	f.calls++
	if f.random != nil {
		return int64(f.calls), f.random()%2 == 0
	}
	return int64(f.calls), f.calls <= f.until
}

func TestAPickEndsWhateverTheCandidatesDo(t *testing.T) {
	weights := []int{1000, 1, 7, 0, 3, 999}
	for kind, newPicker := range pickers {
		t.Run(kind, func(t *testing.T) {
			picker := newPicker(weights, seeded())
			check := func(f *fickle) {
				t.Helper()
				if i := picker.Pick(f, key(f.until)); i < -1 || i >= len(weights) || i >= 0 && weights[i] == 0 {
					t.Errorf("picked %d", i)
				}
				if most := 5 * len(weights); f.calls > most {
					t.Errorf("a pick among %d asked %d times, want %d at most", len(weights), f.calls, most)
				}
			}
			for until := range 30 {
				check(&fickle{until: until})
			}
			for seed := range uint64(1000) {
				check(&fickle{random: rand.NewPCG(seed, 0).Uint64})
			}
		})
	}
}

// restless are candidates that go down and come up while they are picked.
type restless struct{ down, inFlight [4]atomic.Int64 }

func (r *restless) Load(i int) (int64, bool) { return r.inFlight[i].Load(), r.down[i].Load() == 0 }

func TestManyPickWhileBackendsComeAndGo(t *testing.T) {
	for kind, newPicker := range pickers {
		t.Run(kind, func(t *testing.T) {
			picker, candidates := newPicker([]int{1, 2, 0, 3}, rand.Uint64), new(restless)
			var group sync.WaitGroup
			for g := range 8 {
				group.Go(func() {
					for i := range 2000 {
						candidates.down[i%3].Store(int64(g+i) % 2) // never the last
						index := picker.Pick(candidates, uint64(i))
						if index < 0 || index == 2 {
							t.Errorf("picked %d though the last is up", index)
							return
						}
						candidates.inFlight[index].Add(1)
						candidates.inFlight[index].Add(-1)
					}
				})
			}
			group.Wait()
		})
	}
}

func FuzzPick(f *testing.F) {
	f.Add([]byte{1, 1, 1}, uint8(0b010), uint64(1))
	f.Add([]byte{5, 0, 1}, uint8(0b111), uint64(2))
	f.Add([]byte{}, uint8(0), uint64(3))
	f.Add([]byte{255, 254, 253, 1}, uint8(0b1), uint64(1<<63))
	f.Fuzz(func(t *testing.T, raw []byte, mask uint8, seed uint64) {
		weights, candidates, any := make([]int, min(len(raw), 8)), down(), false
		for i := range weights {
			weights[i] = int(raw[i])
			candidates.down[i] = mask>>i&1 != 0
			candidates.inFlight = append(candidates.inFlight, int64(seed>>i&7))
			any = any || weights[i] > 0 && !candidates.down[i]
		}
		for kind, newPicker := range pickers {
			picker := newPicker(weights, rand.NewPCG(seed, 0).Uint64)
			for range 5 {
				index := picker.Pick(candidates, seed)
				if any != (index >= 0) || any && (weights[index] == 0 || candidates.down[index]) {
					t.Errorf("%s picked %d of weights %v, down %v", kind, index, weights, candidates.down)
				}
			}
		}
	})
}

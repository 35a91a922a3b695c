package balance_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gatehouse/helper/balance"
)

func TestRoundRobinTakesTurns(t *testing.T) {
	tests := []struct {
		name    string
		weights []int
		down    []int
		want    []int
	}{
		{"equal ones in the order of the config", []int{1, 1, 1}, nil, []int{0, 1, 2, 0, 1, 2}},
		{"a heavy one never five times in a row", []int{5, 1, 1}, nil, []int{0, 0, 1, 0, 2, 0, 0}},
		{"two that are left alternate", []int{1, 1, 1}, []int{1}, []int{0, 2, 0, 2, 0, 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			picker, candidates := balance.NewRoundRobin(test.weights), down(test.down...)
			got := make([]int, len(test.want))
			for i := range got {
				got[i] = picker.Pick(candidates, 0)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("picked %v, want %v", got, test.want)
			}
		})
	}
}

func TestRoundRobinKeepsTheProportionsOfHugeWeights(t *testing.T) {
	picker := balance.NewRoundRobin([]int{3_000_000, 1_000_001})
	counts := make([]int, 2)
	for range 1 << 17 {
		counts[picker.Pick(balance.All{}, 0)]++
	}
	if ratio := float64(counts[0]) / float64(counts[1]); ratio < 2.99 || ratio > 3.01 {
		t.Errorf("picked %v, want 3 to 1", counts)
	}
}

func TestTheLighterBackendIsPicked(t *testing.T) {
	leastRequests, randomTwo := pickers["LeastRequests"], pickers["RandomTwo"]
	tests := []struct {
		name     string
		picker   func([]int, func() uint64) balance.Picker
		weights  []int
		inFlight []int64
		want     int
	}{
		{"the one with fewer requests", leastRequests, []int{1, 1, 1}, []int64{3, 1, 2}, 1},
		{"weights count: three of weight 2 are less than two of weight 1", leastRequests, []int{2, 1}, []int64{3, 2}, 0},
		{"weights count: one of weight 1 is less than three of weight 2", leastRequests, []int{2, 1}, []int64{3, 1}, 1},
		{"an idle one of weight 0 is none", leastRequests, []int{1, 0}, []int64{9, 0}, 0},
		{"of two the one with fewer requests", randomTwo, []int{1, 1}, []int64{4, 3}, 1},
		{"of two the one with fewer requests for its weight", randomTwo, []int{9, 1}, []int64{8, 1}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			picker, candidates := test.picker(test.weights, seeded()), &pool{inFlight: test.inFlight}
			for range 100 {
				if got := picker.Pick(candidates, 0); got != test.want {
					t.Fatalf("picked %d, want %d", got, test.want)
				}
			}
		})
	}
}

// The busiest of three is picked only if it is drawn twice, which doesn't happen.
func TestRandomTwoNeverPicksTheBusiestOne(t *testing.T) {
	picker, candidates := balance.NewRandomTwo([]int{1, 1, 1}, seeded()), &pool{inFlight: []int64{5, 9, 5}}
	for range 10000 {
		if picker.Pick(candidates, 0) == 1 {
			t.Fatal("picked the busiest")
		}
	}
}

// A backend that answers at a third of the speed gets fewer requests under the
// pickers that look at the load.
func TestASlowBackendGetsFewer(t *testing.T) {
	for _, kind := range []string{"LeastRequests", "RandomTwo"} {
		t.Run(kind, func(t *testing.T) {
			picker := pickers[kind]([]int{1, 1, 1}, seeded())
			candidates, counts := &pool{inFlight: make([]int64, 3)}, make([]int, 3)
			ends := map[int][]int{} // by tick: the backends that end a request
			took := []int{3, 9, 3}
			for tick := range 9000 {
				for _, i := range ends[tick] {
					candidates.inFlight[i]--
				}
				delete(ends, tick)
				i := picker.Pick(candidates, 0)
				counts[i]++
				candidates.inFlight[i]++
				ends[tick+took[i]] = append(ends[tick+took[i]], i)
			}
			if 2*counts[1] > counts[0] || 2*counts[1] > counts[2] {
				t.Errorf("picked %v: the slow one got more than half of another's share", counts)
			}
		})
	}
}

func TestABackendThatLeavesMovesOnlyItsOwnKeys(t *testing.T) {
	all, weights := names(5), []int{1, 2, 1, 3, 1}
	full := balance.NewHash(all, weights)
	left := balance.NewHash(slices.Delete(slices.Clone(all), 1, 2), slices.Delete(slices.Clone(weights), 1, 2))
	gained := make([]int, 5)
	for i := range 20000 {
		before, after := full.Pick(balance.All{}, key(i)), left.Pick(balance.All{}, key(i))
		if after >= 1 {
			after++ // its index among all
		}
		if avoided := full.Pick(down(1), key(i)); avoided != after {
			t.Fatalf("key %d goes to %d when backend 1 has left, and to %d when it is down", i, after, avoided)
		}
		if before != 1 && before != after {
			t.Fatalf("key %d moved from %d to %d though only backend 1 has left", i, before, after)
		}
		if before == 1 {
			gained[after]++
		}
	}
	for i, w := range weights {
		if want := 5000 * w / 6; i != 1 && (gained[i] < want*9/10 || gained[i] > want*11/10) {
			t.Errorf("the keys of the one that left went to %v, want about %d for backend %d", gained, want, i)
		}
	}
}

func TestTheOrderOfTheConfigDoesNotMoveAKey(t *testing.T) {
	all, weights := names(6), []int{1, 2, 3, 4, 5, 6}
	order := rand.New(rand.NewPCG(3, 4)).Perm(6)
	shuffledNames, shuffledWeights := make([]string, 6), make([]int, 6)
	for i, j := range order {
		shuffledNames[i], shuffledWeights[i] = all[j], weights[j]
	}
	p, q := balance.NewHash(all, weights), balance.NewHash(shuffledNames, shuffledWeights)
	for i := range 1000 {
		if a, b := p.Pick(balance.All{}, key(i)), q.Pick(balance.All{}, key(i)); a != order[b] {
			t.Fatalf("key %d: %s, and %s in another order", i, all[a], shuffledNames[b])
		}
	}
}

// Other gateways and later versions must agree on where a key goes.
func TestAKeyStaysWhereItIs(t *testing.T) {
	picker, got := balance.NewHash(names(3), []int{1, 1, 2}), ""
	for i := range 16 {
		got += string(rune('A' + picker.Pick(balance.All{}, key(i))))
	}
	if want := "CBBCCABCCBCACCAB"; got != want {
		t.Errorf("keys go to %s, want %s", got, want)
	}
}

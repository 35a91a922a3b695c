package balance_test

import (
	"testing"

	"gatehouse/helper/balance"
)

// only are candidates of which some may be picked.
type only map[int]bool

func (o only) Load(i int) (int64, bool) { return 0, o[i] }

func TestPeekSaysWhoseTurnIsNextAndTakesNone(t *testing.T) {
	for _, up := range []only{{0: true, 1: true, 2: true}, {1: true, 2: true}, {2: true}, {}} {
		p := balance.NewRoundRobin([]int{3, 2, 1})
		for turn := range 20 {
			first, again := p.Peek(up, 0), p.Peek(up, 0)
			if got := p.Pick(up, 0); got != first || got != again {
				t.Errorf("of %v turn %d is %d, Peek says %d and %d", up, turn, got, first, again)
			}
		}
	}
}

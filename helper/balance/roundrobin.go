package balance

import "sync/atomic"

// RoundRobin takes backends in turn, a backend of weight 2 twice as often as
// one of weight 1. The turns of one round are worked out when it is made, by
// smooth weighted round robin (as in nginx: the highest running weight is next
// and pays back the total), so heavy backends are spread over the round: weights
// 5, 1, 1 never take five turns in a row.
type RoundRobin struct {
	turns   []uint16
	weights []int
	next    atomic.Uint64
	spare   atomic.Uint64 // turns given away by weight
}

// NewRoundRobin makes a picker over len(weights) backends, 65535 at most. A
// backend of weight 0 gets no turn; negative weights count as 0.
func NewRoundRobin(weights []int) *RoundRobin {
	reduced := reduce(weights)
	return &RoundRobin{turns: smooth(reduced), weights: reduced}
}

// Pick implements Picker. The turn of a backend that isn't allowed is passed
// over by taking the next turn for good: were it given to the following backend
// in the round, that one would get a double share.
func (p *RoundRobin) Pick(c Candidates, _ uint64) int {
	if len(p.turns) == 0 {
		return -1
	}
	for range p.weights {
		turn := (p.next.Add(1) - 1) % uint64(len(p.turns))
		if index := int(p.turns[turn]); allowed(c, index) {
			return index
		}
	}
	// Heavy backends are away, or others took the turns between.
	index, _ := share(p.weights, c, -1, mix(p.spare.Add(1)))
	return index
}

// Peek picks what Pick would pick, and takes no turn.
func (p *RoundRobin) Peek(c Candidates, key uint64) int {
	same := &RoundRobin{turns: p.turns, weights: p.weights}
	same.next.Store(p.next.Load())
	same.spare.Store(p.spare.Load())
	return same.Pick(c, key)
}

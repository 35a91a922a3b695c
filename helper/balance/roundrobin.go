package balance

import "sync/atomic"

// maxTurns bounds the length of one round, whatever the weights.
const maxTurns = 1 << 16

// RoundRobin takes backends in turn, a backend of weight 2 twice as often as
// one of weight 1. The turns of one round are worked out when it is made, by
// smooth weighted round robin (as in nginx: the highest running weight is next
// and pays back the total), so heavy backends are spread over the round: weights
// 5, 1, 1 never take five turns in a row.
type RoundRobin struct {
	turns []uint16
	next  atomic.Uint64
}

// NewRoundRobin makes a picker over len(weights) backends. A backend of weight
// 0 gets no turn. Weights are at most 65535 backends' worth; negative ones count as 0.
func NewRoundRobin(weights []int) *RoundRobin {
	return &RoundRobin{turns: smooth(reduce(weights))}
}

// Pick returns the index of the backend whose turn it is, passing over those
// for which allowed returns false, or -1 when none is allowed. A nil allowed
// allows all.
func (p *RoundRobin) Pick(allowed func(index int) bool) int {
	if len(p.turns) == 0 {
		return -1
	}
	length := uint64(len(p.turns))
	at := (p.next.Add(1) - 1) % length
	for range p.turns {
		index := int(p.turns[at])
		if allowed == nil || allowed(index) {
			return index
		}
		if at++; at == length {
			at = 0
		}
	}
	return -1
}

// reduce divides the weights by their greatest common divisor, and scales them
// down when a round would still be longer than maxTurns.
func reduce(weights []int) []int {
	divisor, total := 0, 0
	for _, w := range weights {
		divisor = gcd(max(w, 0), divisor)
		total += max(w, 0)
	}
	reduced := make([]int, len(weights))
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		reduced[i] = w / divisor
		if rounds := total / divisor; rounds > maxTurns {
			reduced[i] = max(1, int(float64(w)/float64(total)*maxTurns))
		}
	}
	return reduced
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func smooth(weights []int) []uint16 {
	total := 0
	for _, w := range weights {
		total += w
	}
	current := make([]int, len(weights))
	turns := make([]uint16, 0, total)
	for range total {
		best := -1
		for i, w := range weights {
			current[i] += w
			if w > 0 && (best < 0 || current[i] > current[best]) {
				best = i
			}
		}
		current[best] -= total
		turns = append(turns, uint16(best))
	}
	return turns
}

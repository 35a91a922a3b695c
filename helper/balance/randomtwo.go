package balance

// RandomTwo draws two different backends at random, in proportion to their
// weights, and picks the one with fewer requests in flight for its weight; the
// one drawn first when they have the same. With many gateways in front of the
// same backends it doesn't send all of them to the same idle one, as
// LeastRequests would.
type RandomTwo struct {
	turns   []uint16
	weights []int
	random  func() uint64
}

// NewRandomTwo makes a picker over len(weights) backends, 65535 at most. random
// is the source of its choices, such as math/rand/v2.Uint64, and must be safe
// for concurrent use.
func NewRandomTwo(weights []int, random func() uint64) *RandomTwo {
	reduced := reduce(weights)
	return &RandomTwo{turns: smooth(reduced), weights: reduced, random: random}
}

// Pick implements Picker.
func (p *RandomTwo) Pick(c Candidates, _ uint64) int {
	random := p.random()
	first, a := p.draw(c, -1, random)
	if first < 0 {
		return -1
	}
	second, b := p.draw(c, first, random<<32) // its other half
	if second >= 0 && lighter(b, p.weights[second], a, p.weights[first]) {
		return second
	}
	return first
}

// draw returns an allowed backend other than the excluded one, and how many
// requests it has, or -1. Nearly always the first one drawn will do. Otherwise
// each backend gets its share of what the others would have got, so the
// proportions are the same.
func (p *RandomTwo) draw(c Candidates, excluded int, random uint64) (index int, inFlight int64) {
	if len(p.turns) == 0 {
		return -1, 0
	}
	index = int(p.turns[below(random, len(p.turns))])
	if index != excluded {
		if inFlight, allowed := c.Load(index); allowed {
			return index, inFlight
		}
	}
	return share(p.weights, c, excluded, mix(random))
}

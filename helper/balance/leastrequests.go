package balance

// LeastRequests picks the backend with the fewest requests in flight for its
// weight, and among several such ones at random, in proportion to their weights:
// otherwise the first would get every request while there is little to do.
type LeastRequests struct {
	weights []int
	random  func() uint64
}

// NewLeastRequests makes a picker over len(weights) backends. random is the
// source of its choices, such as math/rand/v2.Uint64, and must be safe for
// concurrent use.
func NewLeastRequests(weights []int, random func() uint64) *LeastRequests {
	return &LeastRequests{weights: weights, random: random}
}

// Pick implements Picker.
func (p *LeastRequests) Pick(c Candidates, _ uint64) int {
	best, bestWeight, tied := -1, 0, 0
	var bestInFlight int64
	var draw uint64 // 0: none yet
	for i, w := range p.weights {
		if w <= 0 {
			continue
		}
		inFlight, allowed := c.Load(i)
		switch {
		case !allowed:
			continue
		case best < 0 || lighter(inFlight, w, bestInFlight, bestWeight):
			tied = w
		case lighter(bestInFlight, bestWeight, inFlight, w):
			continue
		default:
			// Each of those that tie replaces the one before with the probability of its
			// weight among them, so that there is nothing to remember of the others.
			if draw == 0 {
				draw = p.random()
			}
			draw = mix(draw)
			if tied += w; below(draw, tied) >= w {
				continue
			}
		}
		best, bestInFlight, bestWeight = i, inFlight, w
	}
	return best
}

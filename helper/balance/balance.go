package balance

import "math/bits"

// Picker chooses a backend.
type Picker interface {
	// Pick returns the index of one of the candidates, or -1 when none is
	// allowed. key is what Hash chooses by (see Key); the others ignore it.
	Pick(c Candidates, key uint64) int
}

// Candidates is what a picker may know of the backends at this moment.
type Candidates interface {
	// Load tells whether this backend may be picked (it is healthy, not
	// draining, not full, and this request has not tried it) and, if so, how many
	// requests it has now. It is called several times per pick, may answer
	// differently each time, and must not block.
	Load(index int) (inFlight int64, allowed bool)
}

// All are candidates of which every one is allowed and idle.
type All struct{}

// Load implements Candidates.
func (All) Load(int) (int64, bool) { return 0, true }

// share picks among the allowed backends but the excluded one in proportion to
// their weights, when draw is evenly distributed over all its values. It returns
// -1 when there is none.
func share(weights []int, c Candidates, excluded int, draw uint64) (index int, inFlight int64) {
	index = -1
	total := 0
	for i, w := range weights {
		if w <= 0 || i == excluded {
			continue
		}
		load, allowed := c.Load(i)
		if !allowed {
			continue
		}
		// This one takes the place with the probability of its weight among those so far.
		if total += w; below(draw, total) < w {
			index, inFlight = i, load
		}
		draw = mix(draw)
	}
	return index, inFlight
}

func allowed(c Candidates, index int) bool {
	_, allowed := c.Load(index)
	return allowed
}

// mix makes another random number of x: it is the finalizer of SplitMix64, each
// bit of x changes half of the others.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below maps draw to 0..n-1, each as often as the others; n is positive.
func below(draw uint64, n int) int {
	high, _ := bits.Mul64(draw, uint64(n))
	return int(high)
}

// lighter tells whether a has fewer requests for its weight than b.
func lighter(inFlightA int64, weightA int, inFlightB int64, weightB int) bool {
	return inFlightA*int64(weightB) < inFlightB*int64(weightA)
}

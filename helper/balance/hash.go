package balance

import (
	"math"
	"net/netip"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Hash picks the same backend for the same key as long as it is allowed. It is
// rendezvous hashing (Thaler and Ravishankar, 1998): each backend gets a score
// from key and name, and the best one wins. So the keys of a backend that leaves
// are spread over the others and no other key moves, whatever the order in which
// the backends are listed; and every gateway with the same backends agrees.
type Hash struct {
	backends []hashed
	even     bool // all that have a weight have the same
}

type hashed struct {
	seed uint64
	mean float64 // 1 / weight; 0 without one
}

// NewHash makes a picker over the backends of these names, which are what a
// backend is known by when others come and go. weights go with names by index.
func NewHash(names []string, weights []int) *Hash {
	p := &Hash{backends: make([]hashed, len(names)), even: true}
	first := slices.IndexFunc(weights, func(w int) bool { return w > 0 })
	for i, name := range names {
		p.backends[i].seed = Key(name)
		if weights[i] > 0 {
			p.backends[i].mean = 1 / float64(weights[i])
			p.even = p.even && weights[i] == weights[first]
		}
	}
	return p
}

// Key is the key of a value, such as a client's address. It is the same in every
// process.
func Key(value string) uint64 { return xxhash.Sum64String(value) }

// AddrKey is the key of a client's address: an IPv6 address by its /64, because
// hosts change the rest of it as they like.
func AddrKey(a netip.Addr) uint64 {
	const network = 8 // bytes of a /64
	bytes := a.Unmap().As16()
	if a.Unmap().Is4() {
		return xxhash.Sum64(bytes[:])
	}
	return xxhash.Sum64(bytes[:network])
}

// Pick implements Picker.
func (p *Hash) Pick(c Candidates, key uint64) int {
	best, least := -1, math.Inf(1)
	for i := range p.backends {
		b := &p.backends[i]
		if b.mean == 0 || !allowed(c, i) {
			continue
		}
		// Of clocks that wait for a random time, on average 1/weight, each is the
		// first with the probability of its weight. The time is -log(u)/weight, never
		// under (1-u)/weight: most of the logarithms needn't be taken, and none with
		// even weights, where the order is the same.
		u := unit(mix(b.seed ^ key))
		wait := (1 - u) * b.mean
		if wait < least && !p.even {
			wait = -math.Log(u) * b.mean
		}
		if wait < least {
			best, least = i, wait
		}
	}
	return best
}

// unit maps x to a number between 0 and 1, neither included.
func unit(x uint64) float64 { return (float64(int64(x>>12)) + 0.5) / (1 << 52) }

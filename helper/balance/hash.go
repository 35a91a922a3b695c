package balance

import (
	"math"
	"net/netip"

	"github.com/cespare/xxhash/v2"
)

// Hash picks the same backend for the same key as long as it is allowed. It is
// rendezvous hashing (Thaler and Ravishankar, 1998): each backend gets a score
// from key and name, and the best one wins. So the keys of a backend that leaves
// are spread over the others and no other key moves, whatever the order in which
// the backends are listed; and every gateway with the same backends agrees.
type Hash struct{ backends []hashed }

type hashed struct {
	seed uint64
	mean float64 // 1 / weight; 0 without one
}

// NewHash makes a picker over the backends of these names, which are what a
// backend is known by when others come and go. weights go with names by index.
func NewHash(names []string, weights []int) *Hash {
	p := &Hash{backends: make([]hashed, len(names))}
	for i, name := range names {
		p.backends[i].seed = Key(name)
		if weights[i] > 0 {
			p.backends[i].mean = 1 / float64(weights[i])
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
	best, least := -1, uint64(math.MaxUint64)
	for i := range p.backends {
		b := &p.backends[i]
		if b.mean == 0 || !allowed(c, i) {
			continue
		}
		// Of clocks that wait for a random time, on average 1/weight, each is the
		// first with the probability of its weight. The bits of positive numbers are in
		// the numbers' order, and comparing them takes no branch that a CPU could guess
		// wrongly, which would cost more than all the rest.
		if wait := math.Float64bits(exponential(mix(b.seed^key)) * b.mean); wait < least {
			best, least = i, wait
		}
	}
	return best
}

// exponential makes of a random x a random number whose distribution is exponential with mean 1: -log(u) of a u between
// 0 and 1. The logarithm is right to 3e-8, and half the price of math.Log's, which is right to the last bit.
func exponential(x uint64) float64 {
	const root = 0x3fe6a09e667f3bcd // the bits of the square root of 1/2
	u := math.Float64bits((float64(int64(x>>12)) + 0.5) / (1 << 52))
	exponent := int64(u-root) >> 52
	fraction := math.Float64frombits(u - uint64(exponent)<<52) // from root to 2*root
	s := (fraction - 1) / (fraction + 1)
	q := s * s
	return -float64(exponent)*math.Ln2 - 2*s*(1+q*(1./3+q*(1./5+q/7))) // the series of 2*artanh(s)
}

package limit

import (
	"crypto/sha256"
	"net/netip"
)

// Key names one bucket of one rule in a store. It is the same in every process
// that has the same rule, so that instances can share a store.
type Key [16]byte

// AddrKey is the key of a client address. An IPv6 client is its /64, because it
// can choose any address in there; an IPv4 address mapped into IPv6 is the IPv4
// address, and a zone doesn't count.
func (r Rule) AddrKey(addr netip.Addr) Key {
	var key Key
	if addr = addr.Unmap(); addr.Is4() {
		four := addr.As4()
		copy(key[:], "\xff\xff\xff\xff") // a multicast prefix: no client's /64
		copy(key[4:], four[:])
	} else {
		sixteen := addr.As16()
		copy(key[:8], sixteen[:8])
	}
	copy(key[8:], r.id[:])
	return key
}

// StringKey is the key of anything that a string names: a subject, an API key's
// id, a header's value. It is a cryptographic hash, because clients choose some
// of these strings: nobody can find one that falls into another's bucket.
func (r Rule) StringKey(s string) Key {
	buffer := make([]byte, 0, 256) // on the stack: no usual string is longer
	sum := sha256.Sum256(append(append(buffer, r.id[:]...), s...))
	return Key(sum[:len(Key{})])
}

package limit

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// Subject is what has buckets: a client, a caller, or everybody. Rules share
// it, so that a store can keep all buckets of one subject side by side.
type Subject [16]byte

// The first bytes of a subject that isn't an IPv6 client: a multicast prefix,
// which is no client's /64.
const (
	fourPrefix   = 0xffffffff
	sharedPrefix = 0xfffffffe
)

// AddrSubject is a client's address. An IPv6 client is its /64, because it can
// choose any address in there; an IPv4 address mapped into IPv6 is the IPv4
// address, and a zone doesn't count.
func AddrSubject(addr netip.Addr) Subject {
	var subject Subject
	if addr = addr.Unmap(); addr.Is4() {
		four := addr.As4()
		binary.BigEndian.PutUint32(subject[:], fourPrefix)
		copy(subject[4:], four[:])
	} else {
		sixteen := addr.As16()
		copy(subject[:8], sixteen[:8])
	}
	return subject
}

// StringSubject is anything that strings name together: a user of an issuer, an
// API key's id, a header's value. It is a cryptographic hash, because clients
// choose some of these strings: nobody can find one that falls into another's
// bucket. Kind tells strings of different origin apart.
func StringSubject(kind string, names ...string) Subject {
	buffer := make([]byte, 0, 256) // on the stack: no usual names are longer
	buffer = append(buffer, kind...)
	for _, name := range names {
		buffer = append(binary.AppendUvarint(buffer, uint64(len(name))), name...) // "a", "bc" isn't "ab", "c"
	}
	sum := sha256.Sum256(buffer)
	return Subject(sum[:len(Subject{})])
}

// SharedSubject is everybody who uses what has that name. Its buckets are as
// many as the rules, so that a store never forgets them to make room.
func SharedSubject(name string) Subject {
	subject := StringSubject("", name)
	binary.BigEndian.PutUint32(subject[:], sharedPrefix)
	return subject
}

// Shared says whether it is a SharedSubject.
func (s Subject) Shared() bool { return binary.BigEndian.Uint32(s[:]) == sharedPrefix }

// Key names one bucket in a store: its subject, then its rule. It is the same in
// every process that has the same rule, so that instances can share a store.
type Key [24]byte

// Key is the bucket of the subject under the rule.
func (r Rule) Key(subject Subject) Key {
	var key Key
	copy(key[:], subject[:])
	copy(key[len(subject):], r.id[:])
	return key
}

// Subject is whose bucket it is.
func (k Key) Subject() Subject { return Subject(k[:len(Subject{})]) }

func (k Key) shared() bool { return k.Subject().Shared() }

package trace

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// Sampled is the flag that says the caller may have recorded the trace (W3C Trace Context level 1, section 3.2.2.5.1).
const Sampled byte = 1

// traceparentSize is the length of a version 00 traceparent: 2 + 1 + 32 + 1 + 16 + 1 + 2 bytes.
const traceparentSize = 55

// Context is one position in a distributed trace. The zero value is not a valid Context; make one with Parse or New.
type Context struct {
	TraceID [16]byte
	SpanID  [8]byte
	Flags   byte
}

// Parse reads a traceparent header (W3C Trace Context level 1, section 3.2): lower-case hex and identifiers that are
// not zero. Version 00 is exactly 55 bytes; a later version may go on after a dash, and what it adds is not kept;
// version ff is refused. A request with several traceparent lines has none that is valid: the caller checks that.
func Parse(traceparent string) (Context, bool) {
	s := traceparent
	if len(s) < traceparentSize || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return Context{}, false
	}
	var version, flags [1]byte
	var c Context
	if !decode(version[:], s[:2]) || !decode(c.TraceID[:], s[3:35]) || !decode(c.SpanID[:], s[36:52]) || !decode(flags[:], s[53:55]) {
		return Context{}, false
	}
	c.Flags = flags[0]
	if c.TraceID == [16]byte{} || c.SpanID == [8]byte{} || version[0] == 0xff {
		return Context{}, false
	}
	if len(s) > traceparentSize && (version[0] == 0 || s[traceparentSize] != '-') {
		return Context{}, false
	}
	return c, true
}

// New starts a trace. It isn't marked Sampled: nobody records it yet, and a flag that is always set would make every
// upstream whose sampler follows its parent, which is the default of OpenTelemetry, record every request. Whoever
// records the trace sets the flag.
//
// The identifiers come from math/rand/v2, whose top-level source is a ChaCha8 generator per thread, seeded by the
// system: it costs no system call and no lock, and an identifier that everybody may read needs no more.
func New() Context {
	c := Context{SpanID: newSpanID()}
	binary.BigEndian.PutUint64(c.TraceID[:8], rand.Uint64())
	binary.BigEndian.PutUint64(c.TraceID[8:], nonZero())
	return c
}

// Child returns the next hop's Context: the same trace, a new span, and of the flags only Sampled, because level 1
// (section 3.2.2.5.2) says that unknown flags are sent as zero.
func (c Context) Child() Context {
	c.SpanID = newSpanID()
	c.Flags &= Sampled
	return c
}

// String returns c as a version 00 traceparent.
func (c Context) String() string {
	var b [traceparentSize]byte
	copy(b[:], "00-")
	hex.Encode(b[3:], c.TraceID[:])
	b[35] = '-'
	hex.Encode(b[36:], c.SpanID[:])
	b[52] = '-'
	hex.Encode(b[53:], []byte{c.Flags})
	return string(b[:])
}

// TraceIDString returns the trace id as 32 lower-case hex digits, the form of the log and of X-Request-Id.
func (c Context) TraceIDString() string {
	var b [32]byte
	hex.Encode(b[:], c.TraceID[:])
	return string(b[:])
}

func newSpanID() (id [8]byte) {
	binary.BigEndian.PutUint64(id[:], nonZero())
	return id
}

// nonZero draws again in the one case of 2^64 that would make an invalid identifier.
func nonZero() uint64 {
	for {
		if n := rand.Uint64(); n != 0 {
			return n
		}
	}
}

// decode fills dst from lower-case hex. encoding/hex would also take upper case, which the specification refuses.
func decode(dst []byte, s string) bool {
	for i := range dst {
		high, low := digit(s[2*i]), digit(s[2*i+1])
		if high > 15 || low > 15 {
			return false
		}
		dst[i] = high<<4 | low
	}
	return true
}

// digit returns the value of a lower-case hex digit, or 255.
func digit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

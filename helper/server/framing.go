package server

import "bytes"

// Framing is what the header of a request says of the length of its body, before net/http has made one thing of it.
type Framing uint8

// The framings of a request.
const (
	UnknownFraming Framing = iota // the header came in one piece with the request before, or isn't over
	OneFraming                    // a Content-Length, a Transfer-Encoding, or none
	TwoFramings                   // both: whoever sent it may see another end of the body (RFC 9112 section 6.3)
)

// framing looks for both framings in a header that comes in pieces. net/http drops the Content-Length that stands beside a
// Transfer-Encoding, so that nobody can tell any more.
type framing struct {
	known          bool // it has seen the header from its beginning
	begun, ended   bool
	length, coding bool
	line           [len("transfer-encoding:")]byte // the beginning of the last line
	n              int                             // how much of it there is
}

// see looks at the next piece.
func (f *framing) see(p []byte) {
	if !f.begun { // net/http skips up to four CRs and LFs behind a POST, in any order
		p = bytes.TrimLeft(p, "\r\n")
		f.begun = len(p) > 0
	}
	for !f.ended && len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		f.n += copy(f.line[f.n:], part)
		if end < 0 {
			return
		}
		p = p[end+1:]
		f.endLine()
	}
}

func (f *framing) endLine() {
	line := f.line[:f.n]
	f.n = 0
	switch {
	case len(bytes.TrimSuffix(line, []byte("\r"))) == 0:
		f.ended = true
	case hasName(line, "content-length:"):
		f.length = true
	case hasName(line, "transfer-encoding:"):
		f.coding = true
	}
}

func hasName(line []byte, name string) bool {
	return len(line) >= len(name) && (line[0]|0x20) == name[0] && bytes.EqualFold(line[:len(name)], []byte(name))
}

// is what the header says.
func (f *framing) is() Framing {
	switch {
	case !f.known || !f.ended:
		return UnknownFraming
	case f.length && f.coding:
		return TwoFramings
	}
	return OneFraming
}

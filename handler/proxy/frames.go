package proxy

import "encoding/binary"

// The parts of a frame's header (RFC 6455 section 5.2).
const (
	opcodeBits  = 0x0f
	opcodeClose = 0x08
	maskBit     = 0x80
	length16    = 126 // the length stands in the next 2 bytes
	length64    = 127 // the length stands in the next 8 bytes
	maskSize    = 4
	maxHeader   = 2 + 8 + maskSize
)

// frames follows one direction of a WebSocket as it goes by, to know where a
// frame ends. It looks at the headers of frames only. One goroutine uses it.
type frames struct {
	header [maxHeader]byte
	have   int    // bytes of header
	left   uint64 // bytes of the payload that are still to come
	closed bool   // a close frame went by: nothing may follow it
}

// follow looks at the next bytes.
func (f *frames) follow(p []byte) {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)))
			p, f.left = p[n:], f.left-n
			continue
		}
		n := copy(f.header[f.have:f.size()], p)
		p, f.have = p[n:], f.have+n
		if f.have == f.size() {
			f.closed = f.closed || f.header[0]&opcodeBits == opcodeClose
			f.left, f.have = f.length(), 0
		}
	}
}

// size is that of the header, as far as it is known yet.
func (f *frames) size() int {
	if f.have < 2 {
		return 2
	}
	size := 2
	switch f.header[1] &^ maskBit {
	case length16:
		size += 2
	case length64:
		size += 8
	}
	if f.header[1]&maskBit != 0 {
		size += maskSize
	}
	return size
}

// length is that of the payload, once the header is whole.
func (f *frames) length() uint64 {
	switch short := f.header[1] &^ maskBit; short {
	case length16:
		return uint64(binary.BigEndian.Uint16(f.header[2:]))
	case length64:
		return binary.BigEndian.Uint64(f.header[2:])
	default:
		return uint64(short)
	}
}

// mayClose says whether a close frame may follow the bytes that went by.
func (f *frames) mayClose() bool { return f.have == 0 && f.left == 0 && !f.closed }

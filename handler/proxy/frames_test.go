package proxy

import (
	"bytes"
	"testing"
)

func TestFramesKnowWhereOneEnds(t *testing.T) {
	long, longer := bytes.Repeat([]byte("a"), 300), bytes.Repeat([]byte("b"), 70_000)
	for _, row := range []struct {
		name  string
		bytes []byte
		may   bool // a close frame may follow
	}{
		{"nothing yet", nil, true},
		{"a text", []byte("\x81\x02hi"), true},
		{"a text that isn't whole", []byte("\x81\x02h"), false},
		{"half a header", []byte("\x81"), false},
		{"a header alone", []byte("\x81\x02"), false},
		{"an empty frame", []byte("\x81\x00"), true},
		{"a part of a message", []byte("\x01\x02hi"), true}, // control frames may stand between the parts
		{"a ping behind a text", []byte("\x81\x02hi\x89\x00"), true},
		{"a frame of 300 bytes", append([]byte("\x82\x7e\x01\x2c"), long...), true},
		{"one of them that lacks a byte", append([]byte("\x82\x7e\x01\x2c"), long[1:]...), false},
		{"a frame of 70,000 bytes", append([]byte("\x82\x7f\x00\x00\x00\x00\x00\x01\x11\x70"), longer...), true},
		{"half of its length", []byte("\x82\x7f\x00\x00\x00"), false},
		{"a masked frame", []byte("\x81\x82\x01\x02\x03\x04hi"), true},
		{"half of its mask", []byte("\x81\x82\x01\x02"), false},
		{"a close frame", []byte("\x88\x00"), false},
		{"a close frame behind a text", []byte("\x81\x02hi\x88\x02\x03\xe8"), false},
		{"what isn't a WebSocket", []byte("hello"), false},
	} {
		for piece := 1; piece <= 7; piece += 2 {
			var f frames
			for rest := row.bytes; len(rest) > 0; {
				n := min(piece, len(rest))
				f.follow(rest[:n])
				rest = rest[n:]
			}
			if f.mayClose() != row.may {
				t.Errorf("%s, in pieces of %d: a close frame may follow: %t", row.name, piece, f.mayClose())
			}
		}
	}
}

// However the bytes are cut into pieces, the frames are the same.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x81\x02hi\x88\x02\x03\xe9"), 1)
	f.Add([]byte("\x82\x7e\x00\x01a\x81\x82\x01\x02\x03\x04hi"), 3)
	f.Add([]byte("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 2)
	f.Fuzz(func(t *testing.T, stream []byte, piece int) {
		if piece < 1 {
			return
		}
		var whole, cut frames
		whole.follow(stream)
		for rest := stream; len(rest) > 0; {
			n := min(piece, len(rest))
			cut.follow(rest[:n])
			rest = rest[n:]
		}
		if whole.mayClose() != cut.mayClose() || whole.left != cut.left || whole.have != cut.have {
			t.Errorf("%x: %+v in one piece, %+v in pieces of %d", stream, whole, cut, piece)
		}
	})
}

func BenchmarkFrames(b *testing.B) {
	stream := bytes.Repeat(append([]byte("\x82\x7e\x01\x2c"), make([]byte, 300)...), 100)
	b.SetBytes(int64(len(stream)))
	var f frames
	for b.Loop() {
		f.follow(stream)
	}
}

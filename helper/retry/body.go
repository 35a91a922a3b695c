package retry

import (
	"errors"
	"io"
	"sync"
)

// MaxBody is how many bytes of a body are kept, so that it can be sent again.
const MaxBody = 64 << 10

// ErrNotReplayable says that more of the body has gone out than is kept.
var ErrNotReplayable = errors.New("the request body is too long to be sent again")

// errRetired is what a reader gets that belongs to an attempt that is over.
var errRetired = errors.New("reading the request body: this attempt is over")

// Body is a request's body that more than one attempt can send. Its bytes go to
// the attempt as they come from the client, and up to MaxBody of them are kept;
// a longer body goes on all the same, but can't be sent again. The next attempt
// gets first what the earlier ones have had.
type Body struct {
	source io.Reader

	mu      sync.Mutex
	changed *sync.Cond // what a waiting reader waits for
	opened  bool
	current *reader // the one that may read on; nil when it was closed
	kept    []byte
	dropped bool  // no longer everything is kept
	reading bool  // a reader is in source.Read, or has what it returned
	err     error // what the source ended with
}

// NewBody makes a body of a source, which stays its owner's to close, after the
// last attempt. length is its declared length, negative when unknown: of one that is
// too long nothing is kept.
func NewBody(source io.Reader, length int64) *Body {
	b := &Body{source: source, dropped: length > MaxBody}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// Open returns a reader of the whole body for the next attempt. The readers that
// it returned before fail from now on: an attempt that is over must not take
// bytes from the one that runs. Closing a reader leaves the source open. It
// fails with ErrNotReplayable if a reader has had more than is kept.
//
// It has the form of net/http's Request.GetBody, by which the transport itself
// sends a request again that never reached the backend.
func (b *Body) Open() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened && b.dropped {
		return nil, ErrNotReplayable
	}
	b.opened, b.current = true, &reader{body: b}
	b.changed.Broadcast()
	return b.current, nil
}

// Replayable tells whether Open would succeed.
func (b *Body) Replayable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.opened || !b.dropped
}

// reader is one attempt's view of the body.
type reader struct {
	body   *Body
	offset int // how much of kept it has had
}

// Close ends the reader, also one that waits in Read for another's read.
func (r *reader) Close() error {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == r {
		b.current = nil
		b.changed.Broadcast()
	}
	return nil
}

func (r *reader) Read(p []byte) (int, error) {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	// The reader of an attempt that is over may hang in source.Read for as long
	// as the client likes: what it gets then is kept for this one.
	for b.reading && b.current == r && r.offset == len(b.kept) {
		b.changed.Wait()
	}
	switch {
	case b.current != r:
		return 0, errRetired
	case r.offset < len(b.kept):
		n := copy(p, b.kept[r.offset:])
		r.offset += n
		return n, nil
	case b.err != nil:
		return 0, b.err
	}
	return r.readSource(p)
}

// readSource reads on where no reader has been. It is called with b.mu held.
func (r *reader) readSource(p []byte) (int, error) {
	b := r.body
	b.reading = true
	n, err := b.readUnlocked(p)
	b.reading, b.err = false, err
	b.changed.Broadcast()
	switch {
	case b.dropped:
	case b.current != r:
		b.kept = append(b.kept, p[:n]...) // also past MaxBody, once: the next reader needs it
	case len(b.kept)+n > MaxBody:
		b.kept, b.dropped, r.offset = nil, true, 0
	default:
		b.kept = append(b.kept, p[:n]...)
		r.offset = len(b.kept)
	}
	if b.current != r {
		return 0, errRetired
	}
	return n, err
}

func (b *Body) readUnlocked(p []byte) (int, error) {
	b.mu.Unlock()
	defer b.mu.Lock()
	return b.source.Read(p)
}

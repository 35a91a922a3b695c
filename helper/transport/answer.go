package transport

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
)

// answer is the body of an answer. Its end gives the connection back; Close before
// that closes the connection, also under a Read on another goroutine.
type answer struct {
	body  io.Reader
	fixed fixedBody // which body is, where the answer is plain
	conn  *link
	watch *Watch      // nil: the request's context is watched
	undo  func() bool // ends that
	last  bool        // the connection takes no other request
	err   error       // what Read ended with
	ended atomic.Bool
}

func (a *answer) Read(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	if a.ended.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	ctx := a.conn.ctx
	n, err := a.body.Read(p)
	if err == nil {
		return n, nil
	}
	a.err = err
	if err != io.EOF && ctx.Err() != nil { // a wrapped one is no regular end
		a.err = context.Cause(ctx)
	}
	a.end(err == io.EOF)
	return n, a.err
}

// Close never waits for the rest of the body.
func (a *answer) Close() error {
	a.end(false)
	return nil
}

// end is called at the end of the answer, well or not; the first call counts.
func (a *answer) end(whole bool) {
	if a.ended.Swap(true) {
		return
	}
	stopped := a.stop() // if not, abort has been called or is about to be
	if whole {
		a.conn.done(stopped && !a.last)
		return
	}
	a.conn.close()
}

// begin has the connection aborted when the request's context ends.
func (a *answer) begin() {
	if a.watch != nil {
		a.watch.begin(a.conn.abort)
		return
	}
	a.undo = context.AfterFunc(a.conn.ctx, a.conn.abort)
}

// stop ends that. False means that the connection was aborted, or is about to be.
func (a *answer) stop() bool {
	if a.watch != nil {
		return a.watch.stop()
	}
	return a.undo()
}

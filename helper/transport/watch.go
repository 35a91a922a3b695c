package transport

import "sync"

// WatchKey is the key of a context's *Watch. A lane watches that one instead of the
// context: context.AfterFunc would make six objects for each request.
type WatchKey struct{}

// Watch ends the call of a lane. Whoever ends the context must end its Watch too,
// afterwards. The zero Watch is ready. It serves one call at a time, and is safe for
// concurrent use.
type Watch struct {
	mu    sync.Mutex
	ended bool
	abort func() // nil: there is no call
}

// End ends the call at present, and those to come.
func (w *Watch) End() {
	w.mu.Lock()
	abort := w.abort
	w.ended, w.abort = true, nil
	w.mu.Unlock()
	if abort != nil {
		abort()
	}
}

// begin has abort called at the end, at once when it was.
func (w *Watch) begin(abort func()) {
	w.mu.Lock()
	ended := w.ended
	if !ended {
		w.abort = abort
	}
	w.mu.Unlock()
	if ended {
		abort()
	}
}

// stop ends a call's interest. False means that abort was called, or is about to be.
func (w *Watch) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abort = nil
	return !w.ended
}

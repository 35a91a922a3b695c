package transport

import (
	"net"
	"net/http/httptrace"
	"sync"
)

// WatchKey is the key of a context's *Watch. A lane uses that one instead of
// context.AfterFunc and a trace, which would make nine objects for each request.
type WatchKey struct{}

// Watch ends the call of a lane, and tells how far it has come. Whoever ends the
// context must end its Watch too, afterwards. The zero Watch is ready. It serves one
// call at a time; End is safe for concurrent use.
type Watch struct {
	// Progress is told about the call; nil: nobody is. It isn't changed during one.
	Progress Progress
	// Fields are sent behind those of the request's Header, where there is room for few: a
	// map that grows is what costs most of a small request. Where http.Transport sends the
	// request they are added to its Header. See MayBeField.
	Fields []Field
	// TakesFields says that the header of an answer may come as Answered, its lines in
	// their order: then the Header of the Response is nil. Whoever puts it into another
	// map is spared this one.
	TakesFields bool
	Answered    []Field // nil: the answer of the last call has a Header

	mu    sync.Mutex
	ended bool
	abort func() // nil: there is no call
}

// Progress is told how far a call comes, as httptrace.ClientTrace would tell it; by
// http.Transport also on other goroutines, and when the call is over.
type Progress interface {
	// Connecting is called when a connection to the address is looked for.
	Connecting(address string)
	// Connected is called with the one that was found; reused says that it has served
	// another request.
	Connected(conn net.Conn, reused bool)
	// Written is called when the header of the request is written, or about to be.
	Written()
}

// followed has http.Transport tell p, by the trace of the request, how far it comes.
func followed(p Progress, t *httptrace.ClientTrace) {
	if t == nil {
		p.Written() // nothing will be known, so the worst is assumed
		return
	}
	t.GetConn = p.Connecting
	t.GotConn = func(info httptrace.GotConnInfo) { p.Connected(info.Conn, info.Reused) }
	t.WroteHeaders = p.Written
}

// traced is the Progress of a request that has no Watch, but may have a trace.
type traced httptrace.ClientTrace

func (t *traced) Connecting(address string) {
	if t != nil && t.GetConn != nil {
		t.GetConn(address)
	}
}

func (t *traced) Connected(conn net.Conn, reused bool) {
	if t != nil && t.GotConn != nil {
		t.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: reused, WasIdle: reused})
	}
}

func (t *traced) Written() {
	if t != nil && t.WroteHeaders != nil {
		t.WroteHeaders()
	}
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

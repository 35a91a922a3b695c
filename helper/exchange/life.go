package exchange

import (
	"context"
	"net/http"
	"time"

	"gatehouse/helper/server"
	"gatehouse/helper/transport"
)

// life is how long a request lasts: until its client leaves, the server closes, its
// time is over, or it is answered. It makes the context that all the stages see,
// without one of net/http's above it, which would make six objects for each request.
type life struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	values values
	conn   *server.Conn // tells that the client has left; nil: the server's context does
	stop   func() bool  // where that does
}

type contextKey struct{}

// From returns the record of the request that ctx belongs to. It panics
// without one: a stage that runs outside the gateway is a programming error.
func From(ctx context.Context) *Exchange {
	return ctx.Value(contextKey{}).(*Exchange)
}

func (l *life) begin(ex *Exchange, r *http.Request) context.Context {
	l.values = values{r.Context(), ex}
	l.ctx, l.cancel = context.WithCancelCause(&l.values)
	if r.ProtoMajor == 1 {
		l.conn = server.ConnOf(r.Context())
	}
	if l.conn != nil {
		l.conn.Watch(ex.left)
	} else {
		l.followServer(ex)
	}
	return l.ctx
}

// followServer ends the request with the context that net/http gave it.
func (l *life) followServer(ex *Exchange) {
	l.stop = context.AfterFunc(l.values.Context, ex.left)
}

// detach leaves the connection to whoever takes it over.
func (l *life) detach(ex *Exchange) {
	if l.conn != nil {
		l.conn.Unwatch()
		l.conn = nil
		l.followServer(ex)
	}
}

// left is called when the client has left, or the server closes.
func (ex *Exchange) left() {
	cause := context.Cause(ex.life.values.Context)
	if cause == nil {
		cause = context.Canceled
	}
	ex.Cancel(cause)
}

// Framing is what the header said of the body's length, as far as that can be told: not where the connection isn't a
// server.Conn. It is asked for before the body is read.
func (ex *Exchange) Framing() server.Framing {
	if ex.life.conn == nil {
		return server.OneFraming
	}
	return ex.life.conn.Framing()
}

// Context is the request's, as Begin made it.
func (ex *Exchange) Context() context.Context { return ex.life.ctx }

// Cause is why the request has ended, nil before. The end of the server (server.ErrClosed) is known here before anything
// fails for it; the context may follow a moment later.
func (ex *Exchange) Cause() error {
	if cause := context.Cause(ex.life.ctx); cause != nil {
		return cause
	}
	return context.Cause(ex.life.values.Context)
}

// Cancel ends the context, and the call to the backend, with a cause; the first one
// counts. It is safe for concurrent use.
func (ex *Exchange) Cancel(cause error) {
	ex.life.cancel(cause)
	ex.Lane.End()
}

// End is called when the request has been answered.
func (ex *Exchange) End() {
	switch l := &ex.life; {
	case l.conn != nil:
		l.conn.Unwatch()
	case l.stop != nil:
		l.stop()
	}
	ex.Cancel(nil)
}

// values is a context with the values of net/http's, the exchange and the watch of
// its call, that doesn't end.
type values struct {
	context.Context
	ex *Exchange
}

func (*values) Deadline() (time.Time, bool) { return time.Time{}, false }
func (*values) Done() <-chan struct{}       { return nil }
func (*values) Err() error                  { return nil }

func (v *values) Value(key any) any {
	switch key.(type) {
	case contextKey:
		return v.ex
	case transport.WatchKey:
		return &v.ex.Lane
	}
	return v.Context.Value(key)
}

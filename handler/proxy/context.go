package proxy

import (
	"context"
	"time"

	"gatehouse/helper/transport"
)

// endable makes the context of the call. It ends with the client's request, which is
// parent, or by end, which also must be called when the call is over.
func (c *call) endable(parent context.Context) (ctx context.Context, end context.CancelCauseFunc) {
	c.base = endless{parent, &c.lane}
	ctx, cancel := context.WithCancelCause(&c.base)
	stop := context.AfterFunc(parent, func() {
		cancel(context.Cause(parent))
		c.lane.End()
	})
	return ctx, func(cause error) {
		stop()
		cancel(cause)
		c.lane.End()
	}
}

// endless is a context with the values of the client's request, and a watch for the
// lane, that doesn't end.
type endless struct {
	context.Context
	watch *transport.Watch
}

func (*endless) Deadline() (time.Time, bool) { return time.Time{}, false }
func (*endless) Done() <-chan struct{}       { return nil }
func (*endless) Err() error                  { return nil }

func (e *endless) Value(key any) any {
	if key == (transport.WatchKey{}) {
		return e.watch
	}
	return e.Context.Value(key)
}

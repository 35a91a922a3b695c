package proxy

import (
	"context"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/helper/exchange"
)

// watchdog ends an upstream call whose time is over, or on which no byte went
// either way for the idle time. One timer serves both: a byte only stores the
// time, and the timer looks when it fires.
//
// Whoever keeps the other waiting is at fault: when the gateway is waiting for
// the client's body, or for the client to take the answer, it is the client.
type watchdog struct {
	exchange *exchange.Exchange
	cancel   context.CancelCauseFunc
	start    time.Time
	total    time.Duration // 0: no limit
	idle     time.Duration // 0: no limit
	last     atomic.Int64  // the last byte, in nanoseconds since start
	endless  atomic.Bool   // total no longer counts: the connection was upgraded
	stopped  atomic.Bool
	alarms   *sync.Pool // of *alarm
	alarm    *alarm     // nil: there is no limit
}

// alarm is a timer that serves one watchdog after the other.
type alarm struct {
	timer *time.Timer
	dog   atomic.Pointer[watchdog] // nil: none
}

func (a *alarm) ring() {
	if w := a.dog.Load(); w != nil {
		w.fire()
	}
}

// begin starts the watchdog; stop must be called when the call has ended.
func (w *watchdog) begin() {
	w.start = time.Now()
	next, ok := w.next(0)
	if !ok {
		return
	}
	if w.alarm, ok = w.alarms.Get().(*alarm); !ok {
		w.alarm = &alarm{}
		w.alarm.timer = time.AfterFunc(time.Hour, w.alarm.ring)
	}
	w.alarm.dog.Store(w)
	w.alarm.timer.Reset(next)
}

// next is how long after now (since start) the timer has to look again.
func (w *watchdog) next(now time.Duration) (time.Duration, bool) {
	var next time.Duration
	ok := false
	if w.total > 0 && !w.endless.Load() {
		next, ok = w.total-now, true
	}
	if w.idle > 0 {
		if idle := time.Duration(w.last.Load()) + w.idle - now; !ok || idle < next {
			next, ok = idle, true
		}
	}
	return next, ok
}

func (w *watchdog) fire() {
	now := time.Since(w.start)
	next, ok := w.next(now)
	if !ok || w.stopped.Load() {
		return
	}
	if next > 0 {
		w.alarm.timer.Reset(next)
		return
	}
	cause := errIdle
	if w.total > 0 && now >= w.total && !w.endless.Load() {
		cause = errRequestTimeout
	}
	stalled := w.exchange.Waiting.Load() > 0
	if stalled {
		cause = errClientStalled
	}
	w.cancel(cause)
	if stalled {
		// Nothing may block on the client any longer, neither a read of the body
		// nor the server when it clears up behind the handler.
		client := http.NewResponseController(w.exchange.Writer.ResponseWriter)
		_ = client.SetReadDeadline(time.Now())
		_ = client.SetWriteDeadline(time.Now())
	}
}

// touch records that a byte went by, and returns when, since start.
func (w *watchdog) touch() time.Duration {
	now := time.Since(w.start)
	w.last.Store(int64(now))
	return now
}

// left is how much of the request's time is left.
func (w *watchdog) left() time.Duration {
	if w.total <= 0 {
		return math.MaxInt64
	}
	return w.total - time.Since(w.start)
}

// lift takes the whole-request limit away, for an upgraded connection: the
// request has ended with the 101.
func (w *watchdog) lift() {
	w.endless.Store(true)
	w.touch()
}

func (w *watchdog) stop() {
	w.stopped.Store(true)
	if w.alarm == nil {
		return
	}
	w.alarm.dog.Store(nil)
	if w.alarm.timer.Stop() { // else it rings at this moment, and may set itself again
		w.alarms.Put(w.alarm)
	}
}

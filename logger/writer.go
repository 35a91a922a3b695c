package logger

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	bufferSize = 4 << 20
	// linger is how long the first line waits for more to be written with it. Under load it makes a few hundred
	// writes a second of what would be one for every request.
	linger = 5 * time.Millisecond
	// syncTimeout bounds the Sync that zap makes by itself before it panics or exits.
	syncTimeout = time.Second
)

// writer hands lines to a sink without ever waiting for it. It is a zapcore.WriteSyncer whose Write takes whole lines.
type writer struct {
	sink    io.Writer
	end     func() error // closes the sink
	notice  func(lines uint64) []byte
	dropped atomic.Uint64

	mu     sync.Mutex
	buf    []byte
	batch  []byte // what the sink is taking
	owed   uint64 // lines dropped that no notice has told of yet
	closed bool

	wake    chan struct{} // holds a token when buf may have something
	flushes chan chan struct{}
	stop    chan struct{}
	stopped chan struct{}

	// run's own
	spare  []byte // the buffer that isn't buf
	torn   bool   // the sink ends within a line
	failed error  // the sink's, while lines are owed; close's once run has ended
}

func newWriter(sink io.Writer, end func() error, notice func(lines uint64) []byte) *writer {
	w := &writer{
		sink:    sink,
		end:     end,
		notice:  notice,
		wake:    make(chan struct{}, 1),
		flushes: make(chan chan struct{}),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	go w.run()
	return w
}

// Write takes a line, or drops and counts it. It never fails, since nobody who logs could do anything about it.
func (w *writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	if w.closed || len(w.buf)+len(line) > bufferSize {
		w.owed++
		w.mu.Unlock()
		w.dropped.Add(1)
		return len(line), nil
	}
	first := len(w.buf) == 0
	w.buf = append(w.buf, line...)
	w.mu.Unlock()
	if first {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// Sync is for zap; Logger.Sync is the one with a context.
func (w *writer) Sync() error {
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	return w.flush(ctx)
}

// flush waits until all that was written before is with the sink.
func (w *writer) flush(ctx context.Context) error {
	flushed := make(chan struct{})
	select {
	case w.flushes <- flushed:
	case <-w.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close takes no more lines, and waits until the rest is with the sink and that is closed.
func (w *writer) close(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.stop)
	}
	w.mu.Unlock()
	select {
	case <-w.stopped:
		return w.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// missing is how many lines the sink neither has nor tells of. Some of those that it is just taking may be there.
func (w *writer) missing() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.owed + lines(w.batch) + lines(w.buf)
}

func lines(text []byte) uint64 { return uint64(bytes.Count(text, []byte{'\n'})) }

func (w *writer) run() {
	defer close(w.stopped)
	for {
		var flushed chan struct{}
		select {
		case <-w.wake:
			select {
			case <-time.After(linger):
			case flushed = <-w.flushes:
			case <-w.stop:
			}
		case flushed = <-w.flushes:
		case <-w.stop:
			w.drain()
			if err := w.end(); w.failed == nil {
				w.failed = err
			}
			return
		}
		w.drain()
		if flushed != nil {
			close(flushed)
		}
	}
}

// drain writes what is in the buffer, and then the notice of the lines that found it full.
func (w *writer) drain() {
	w.mu.Lock()
	batch, owed := w.buf, w.owed
	w.batch, w.buf = batch, w.spare[:0]
	w.mu.Unlock()

	w.spare = batch
	lost := uint64(0)
	if len(batch) > 0 {
		lost = lines(batch[w.put(batch):])
		w.dropped.Add(lost)
	}
	told := uint64(0)
	if owed > 0 && lost == 0 { // or the notice would fare no better
		if notice := w.notice(owed); w.put(notice) == len(notice) {
			told = owed
		}
	}
	w.mu.Lock()
	w.batch, w.owed = nil, w.owed+lost-told
	if w.owed == 0 {
		w.failed = nil
	}
	w.mu.Unlock()
}

// put writes p, on a new line if an earlier write broke off within one, and returns how much of it was written.
func (w *writer) put(p []byte) int {
	if w.torn {
		if _, err := w.sink.Write([]byte{'\n'}); err != nil {
			w.failed = err
			return 0
		}
		w.torn = false
	}
	n, err := w.sink.Write(p)
	if err == nil {
		return len(p)
	}
	w.failed = err
	n = min(max(n, 0), len(p))
	w.torn = n > 0 && p[n-1] != '\n'
	return n
}

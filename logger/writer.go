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
	notice  func(lines uint64) []byte
	dropped atomic.Uint64

	mu     sync.Mutex
	buf    []byte
	lost   uint64 // lines dropped since buf was taken last
	closed bool

	wake    chan struct{} // holds a token when buf may have something
	flushes chan chan struct{}
	stop    chan struct{}
	stopped chan struct{}

	// run's own
	spare []byte // the buffer that isn't buf
	owed  uint64 // lines lost that no notice has told of yet
	torn  bool   // the sink ends within a line
}

func newWriter(sink io.Writer, notice func(lines uint64) []byte) *writer {
	w := &writer{
		sink:    sink,
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
		w.lost++
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

// close takes no more lines, and waits until the rest is with the sink.
func (w *writer) close(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.stop)
	}
	w.mu.Unlock()
	select {
	case <-w.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
	batch, lost := w.buf, w.lost
	w.buf, w.lost = w.spare[:0], 0
	w.mu.Unlock()

	w.spare = batch
	w.owed += lost
	if len(batch) > 0 {
		n := w.put(batch)
		failed := uint64(bytes.Count(batch[n:], []byte{'\n'}))
		w.owed += failed
		w.dropped.Add(failed)
		if failed > 0 {
			return // the notice would fare no better
		}
	}
	if w.owed > 0 {
		if notice := w.notice(w.owed); w.put(notice) == len(notice) {
			w.owed = 0
		}
	}
}

// put writes p, on a new line if an earlier write broke off within one, and returns how much of it was written.
func (w *writer) put(p []byte) int {
	if w.torn {
		if _, err := w.sink.Write([]byte{'\n'}); err != nil {
			return 0
		}
		w.torn = false
	}
	n, err := w.sink.Write(p)
	if err == nil {
		return len(p)
	}
	n = min(max(n, 0), len(p))
	w.torn = n > 0 && p[n-1] != '\n'
	return n
}

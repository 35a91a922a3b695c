package proxy

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/helper/exchange"
)

// requestBody is the request's body on its way to the backend: it counts,
// keeps to the limit, and remembers when reading from the client failed, which
// is never the upstream's fault. The transport reads it on a goroutine of its
// own that may outlive the handler, so everything in it is atomic.
type requestBody struct {
	io.ReadCloser
	exchange *exchange.Exchange
	limit    int64      // 0: none
	mu       sync.Mutex // held while reading
	over     bool       // the call has ended; under mu
	read     atomic.Int64
	failed   atomic.Pointer[error]
	whole    atomic.Bool // read to its end
	in       http.Header // trailers as they came
	watch    *watchdog
	waited   atomic.Int64 // for the client, in reads that have ended; nanoseconds
	since    atomic.Int64 // when the read that runs began, by watch; 0: none runs

	trailers sync.Mutex  // an earlier attempt may still be reading
	out      http.Header // trailers as they go on; filled at the end of the body
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.whole.Load() {
		return 0, io.EOF // net/http looks for more than the length, and closes the body as soon as the answer begins
	}
	if b.over {
		return 0, http.ErrBodyReadAfterClose // not EOF: half a body would look whole
	}
	began := time.Since(b.watch.start)
	b.since.Store(int64(began))
	b.exchange.Waiting.Add(1)
	n, err := b.ReadCloser.Read(p)
	b.exchange.Waiting.Add(-1)
	b.waited.Add(int64(b.watch.touch() - began))
	b.since.Store(0)
	total := b.read.Add(int64(n))
	if b.limit > 0 && total > b.limit {
		return 0, b.fail(errBodyTooLarge)
	}
	switch {
	case err == io.EOF:
		b.trailers.Lock()
		defer b.trailers.Unlock()
		b.whole.Store(true)
		b.fillTrailers()
	case err != nil:
		return n, b.fail(err)
	}
	return n, err
}

// clientTime is how long the call has waited for the client to send the body, up
// to now (since the watchdog's start).
func (b *requestBody) clientTime(now time.Duration) time.Duration {
	if b == nil {
		return 0
	}
	waited := time.Duration(b.waited.Load())
	if since := time.Duration(b.since.Load()); since > 0 {
		waited += max(0, now-since)
	}
	return waited
}

// passTrailers says where the trailers of the next attempt belong; they are those
// that the body ends with, or has ended with.
func (b *requestBody) passTrailers(out http.Header) {
	if b == nil {
		return
	}
	b.trailers.Lock()
	defer b.trailers.Unlock()
	b.out = out
	if b.whole.Load() {
		b.fillTrailers()
	}
}

func (b *requestBody) fillTrailers() {
	for name := range b.out {
		b.out[name] = b.in[name]
	}
}

// end stops the reading when the upstream has answered before the body was
// over. A read that waits for the client is broken off: net/http would wait for
// it, with no limit, before it could close the connection.
func (b *requestBody) end() {
	if b == nil {
		return
	}
	if !b.mu.TryLock() {
		_ = http.NewResponseController(b.exchange.Writer.ResponseWriter).SetReadDeadline(time.Now())
		b.mu.Lock()
	}
	b.over = true
	b.mu.Unlock()
}

func (b *requestBody) fail(err error) error {
	b.failed.CompareAndSwap(nil, &err)
	return &clientError{err}
}

// fault is the error that reading from the client ended with, nil when none
// did or when there is no body.
func (b *requestBody) fault() error {
	if b == nil {
		return nil
	}
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// answerBody is the body of the upstream's answer on its way to the client.
type answerBody struct {
	io.ReadCloser
	call   *call
	answer *http.Response // whose trailers come at the end
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	after := b.call.watch.touch()
	b.call.copy.answered(p[:n])
	if err != nil {
		scrubTrailers(b.call.exchange, b.answer.Trailer)
		b.call.answerEnded(err, after)
	}
	return n, err
}

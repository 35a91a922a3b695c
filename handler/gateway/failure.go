package gateway

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/proxy"
	"gatehouse/helper/upstream"
)

// failureInterval is how often one backend's failures are logged at most: when it
// is down, every request may have one.
const failureInterval = time.Second

// failures is what is remembered of a backend's failures.
type failures struct {
	mu         sync.Mutex
	last       string    // the kind of the last one
	next       time.Time // when the next may be logged
	suppressed int       // how many weren't since the last that was
}

func (f *failures) note(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = kind
}

// due says whether one may be logged now, and how many were suppressed before it.
func (f *failures) due(now time.Time) (suppressed int, due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Before(f.next) {
		f.suppressed++
		return 0, false
	}
	suppressed = f.suppressed
	f.suppressed, f.next = 0, now.Add(failureInterval)
	return suppressed, true
}

func (f *failures) kind() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// failed is told of every failed attempt. One that was answered stands in the
// access log with its status.
func (p *pool) failed(b *upstream.Backend, f proxy.Failure) {
	known := p.failures[b.Name]
	known.note(f.Kind)
	if f.Err == nil {
		return
	}
	if suppressed, due := known.due(time.Now()); due {
		p.log.Warn("upstream call failed", append(p.about(b), zap.String("trace_id", f.TraceID), zap.String("code", string(f.Code)),
			zap.String("proxy_error", f.Kind), zap.Error(f.Err), zap.Int("suppressed", suppressed))...)
	}
}

func (p *pool) ejected(b *upstream.Backend) {
	p.backends[b.Name].Ejected()
	p.log.Warn("backend ejected: its requests keep failing", append(p.about(b), zap.String("last_failure", p.failures[b.Name].kind()))...)
}

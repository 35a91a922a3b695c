package limit

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// tolerated is how many calls may fail in a row before the remote store is
	// left alone.
	tolerated = 3
	// probeEvery is how often a remote store that was lost is tried again, and
	// probeTimeout how long it may then take to open a connection.
	probeEvery   = 250 * time.Millisecond
	probeTimeout = time.Second
)

// Remote is a store that all instances share and that may be out of reach. Its
// methods are called concurrently.
type Remote interface {
	// Decide is as Local.Decide. After an error nothing is known about the
	// tokens.
	Decide(ctx context.Context, demands []Demand) error
	// Check says whether Decide would work, for every key.
	Check(ctx context.Context) error
}

// FallbackOptions are the settings of a Fallback.
type FallbackOptions struct {
	Remote    Remote
	Local     *Local
	Instances int           // that share the limits; at least 1
	Timeout   time.Duration // of one call
	// Changed is told, by Run, when requests are decided remotely from now on, or
	// locally, and then why. The first call says how it begins.
	Changed func(remote bool, cause error)
}

// Fallback decides in a remote store, and locally while that can't be reached.
// A request whose call fails is decided locally, by the instance's share of each
// rule. After a few failures in a row the remote store is left alone, so that
// one that hangs costs a few requests one timeout and the others nothing, and is
// tried in the background until it answers in time again. Its methods may be
// called concurrently; until Run runs, everything is decided locally.
type Fallback struct {
	options FallbackOptions
	current atomic.Pointer[period] // nil: requests are decided locally
	lost    chan error             // why the period that just ended did
}

// period is a time in which the remote store answers.
type period struct {
	ctx      context.Context // done when the period ends: nobody waits any longer
	end      context.CancelFunc
	failures atomic.Int32 // in a row
}

// NewFallback returns a store that begins by deciding locally.
func NewFallback(options FallbackOptions) *Fallback {
	return &Fallback{options: options, lost: make(chan error, 1)}
}

// Decide is as Local.Decide, and takes no longer than the timeout. Where it was
// decided locally, each Rule is the share of it that this instance has.
func (f *Fallback) Decide(demands []Demand) {
	p := f.current.Load()
	if p != nil && len(demands) > 0 && demands[0].Look {
		for i := range demands { // asking would cost the remote store as much as a request does
			demands[i].Decide(0, 0)
			demands[i].Unasked = true
		}
		return
	}
	if p != nil && f.remotely(p, demands) {
		return
	}
	for i := range demands {
		demands[i].Rule = demands[i].Rule.Share(f.options.Instances)
	}
	f.options.Local.Decide(demands)
}

func (f *Fallback) remotely(p *period, demands []Demand) bool {
	ctx, cancel := context.WithTimeout(p.ctx, f.options.Timeout)
	defer cancel()
	err := f.options.Remote.Decide(ctx, demands)
	if err == nil {
		if p.failures.Load() > 0 {
			p.failures.Store(0)
		}
		return true
	}
	if p.ctx.Err() != nil { // others have found that it's lost; this call says nothing
		return false
	}
	if p.failures.Add(1) >= tolerated && f.current.CompareAndSwap(p, nil) {
		p.end()
		f.lost <- err // there is room: Run has taken the one before, or p wouldn't be there
	}
	return false
}

// Run tries the remote store, uses it as long as it answers, and tries it again
// when it is lost, until ctx ends; then it returns nil.
func (f *Fallback) Run(ctx context.Context) error {
	told := false
	for ctx.Err() == nil {
		cause := f.probe(ctx)
		switch {
		case ctx.Err() != nil:
		case cause != nil:
			if !told {
				f.options.Changed(false, cause)
			}
			told = true
			wait(ctx, probeEvery)
		default:
			f.options.Changed(true, nil)
			f.serve(ctx)
			told = true
		}
	}
	return nil
}

// serve decides remotely until that fails.
func (f *Fallback) serve(ctx context.Context) {
	p := &period{}
	p.ctx, p.end = context.WithCancel(ctx)
	defer p.end()
	f.current.Store(p)
	select {
	case cause := <-f.lost:
		f.options.Changed(false, cause)
		wait(ctx, probeEvery)
	case <-ctx.Done():
		f.current.Store(nil)
	}
}

// probe first opens the connections, which may take its time, and then asks for
// an answer as quick as a request needs it.
func (f *Fallback) probe(ctx context.Context) error {
	for _, timeout := range [...]time.Duration{probeTimeout, f.options.Timeout} {
		checked, cancel := context.WithTimeout(ctx, timeout)
		err := f.options.Remote.Check(checked)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

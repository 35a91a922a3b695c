package health

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	userAgent = "gatehouse-health"
	// maxDrain is how much of an answer's body is read so that its connection can
	// be used again.
	maxDrain = 64 << 10
	// jitter is the share of the interval by which a check may come early, so that
	// many gateways don't ask at the same moment. None comes late.
	jitter = 0.1
)

// Checks says how the backends of a pool are asked.
type Checks struct {
	Interval   time.Duration // from the start of a check to that of the next, at most
	Timeout    time.Duration // for one check, its body included
	Thresholds Thresholds
	// Expect tells whether an answer with this status is good. A redirect isn't
	// followed: its own status counts.
	Expect func(status int) bool
	// OnChange, unless nil, is called after each change with why the backend is
	// down, nil when it is up. It is called on the goroutine that checks this
	// backend; the next check waits for it.
	OnChange func(name string, cause error)
}

// Target is a backend and how to ask it.
type Target struct {
	Name string
	URL  *url.URL // what to GET
	Host string   // the Host header; "": the URL's host
	// Transport is for the checks alone, so that they don't wait for a connection
	// that requests use. Run closes its idle connections when it ends.
	Transport http.RoundTripper
}

// Checker asks the backends of a pool whether they are well.
type Checker struct {
	checks  Checks
	targets []target
	pending atomic.Int64 // targets without a result
	ready   chan struct{}
}

type target struct {
	name    string
	client  *http.Client
	request *http.Request
	status  atomic.Int64 // a Status; written by its own goroutine
	known   atomic.Bool  // it has had a result
}

// NewChecker makes a checker; its methods take the index of a target. Targets
// that previous knows by the same name, unless it is nil, begin as they stand
// there.
func NewChecker(checks Checks, targets []Target, previous *Checker) *Checker {
	c := &Checker{checks: checks, targets: make([]target, len(targets)), ready: make(chan struct{})}
	c.pending.Store(1) // for NewChecker itself, so that ready is closed once
	for i, t := range targets {
		own := &c.targets[i]
		own.name = t.Name
		own.client = &http.Client{Transport: t.Transport, Timeout: checks.Timeout, CheckRedirect: lastResponse}
		own.request = &http.Request{Method: http.MethodGet, URL: t.URL, Host: t.Host, Header: http.Header{"User-Agent": {userAgent}}}
		if old := previous.find(t.Name); old != nil && old.known.Load() {
			own.status.Store(old.status.Load())
			own.known.Store(true)
		} else {
			c.pending.Add(1)
		}
	}
	c.settle()
	return c
}

func lastResponse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (c *Checker) find(name string) *target {
	if c == nil {
		return nil
	}
	for i := range c.targets {
		if c.targets[i].name == name {
			return &c.targets[i]
		}
	}
	return nil
}

func (c *Checker) settle() {
	if c.pending.Add(-1) == 0 {
		close(c.ready)
	}
}

// Up tells whether a backend is up. One that hasn't answered yet is.
func (c *Checker) Up(index int) bool { return Status(c.targets[index].status.Load()).Up() }

// Ready is closed when every backend has had its first result.
func (c *Checker) Ready() <-chan struct{} { return c.ready }

// Run checks all backends side by side, at once and then in intervals, until the
// context ends. It returns nil, when all its goroutines have ended, and must be
// called once at most.
func (c *Checker) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for i := range c.targets {
		group.Go(func() { c.watch(ctx, &c.targets[i]) })
	}
	<-ctx.Done()
	group.Wait()
	return nil
}

func (c *Checker) watch(ctx context.Context, t *target) {
	defer t.client.CloseIdleConnections()
	for {
		early := time.Duration(rand.Float64() * jitter * float64(c.checks.Interval))
		next := time.After(c.checks.Interval - early) // begun before the check, so that a slow one delays none
		cause := c.ask(ctx, t)
		if ctx.Err() != nil {
			return // the end of the checks says nothing about the backend
		}
		c.record(t, cause)
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

// ask makes one check and returns what was wrong.
func (c *Checker) ask(ctx context.Context, t *target) error {
	response, err := t.client.Do(t.request.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("checking backend %s: %w", t.name, err)
	}
	defer response.Body.Close()                          //nolint:errcheck // the status is all that counts
	_, _ = io.CopyN(io.Discard, response.Body, maxDrain) // so that the connection can be used again
	if !c.checks.Expect(response.StatusCode) {
		return fmt.Errorf("checking backend %s: it answered with status %d", t.name, response.StatusCode)
	}
	return nil
}

// record counts a result. The first one decides alone: until then nobody knows.
func (c *Checker) record(t *target, cause error) {
	thresholds, first := c.checks.Thresholds, !t.known.Load()
	if first {
		thresholds = Thresholds{}
	}
	before := Status(t.status.Load())
	after := before.After(cause == nil, thresholds)
	t.status.Store(int64(after))
	if before.Up() != after.Up() && c.checks.OnChange != nil {
		c.checks.OnChange(t.name, cause)
	}
	if first {
		t.known.Store(true)
		c.settle()
	}
}

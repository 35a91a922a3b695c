package upstream

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"gatehouse/helper/balance"
)

// Backend is one server of an upstream.
type Backend struct {
	Name      string // the URL as configured: the label in metrics and logs
	Target    *url.URL
	Transport http.RoundTripper

	inFlight atomic.Int64
}

// NewBackend parses rawURL; name and target come from it.
func NewBackend(rawURL string, transport http.RoundTripper) (*Backend, error) {
	target, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("parsing the URL of backend %s: %w", rawURL, err)
	}
	return &Backend{Name: rawURL, Target: target, Transport: transport}, nil
}

// Acquire counts a request in; the caller must Release it.
func (b *Backend) Acquire() { b.inFlight.Add(1) }

// Release counts a request out.
func (b *Backend) Release() { b.inFlight.Add(-1) }

// InFlight is how many requests the backend has now.
func (b *Backend) InFlight() int64 { return b.inFlight.Load() }

// Pool is the backends of one upstream and the way to choose among them.
type Pool struct {
	backends []*Backend
	picker   *balance.RoundRobin
}

// NewPool makes a pool; weights go with backends by index.
func NewPool(backends []*Backend, weights []int) *Pool {
	return &Pool{backends: backends, picker: balance.NewRoundRobin(weights)}
}

// Pick returns the backend for the next request, or nil when there is none.
func (p *Pool) Pick() *Backend {
	index := p.picker.Pick(balance.All{}, 0)
	if index < 0 {
		return nil
	}
	return p.backends[index]
}

// Backends returns every backend, in the order of the config.
func (p *Pool) Backends() []*Backend { return p.backends }

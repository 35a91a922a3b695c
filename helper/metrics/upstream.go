package metrics

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Upstream is the handle for an upstream's circuit breaker.
type Upstream struct {
	metrics *Metrics
	name    string
	state   func() int
	series  *upstreamSeries
}

// upstreamSeries is what the handles of one name share.
type upstreamSeries struct {
	refused     atomic.Uint64
	transitions [3]prometheus.Counter // by state
	handles     []*Upstream           // guarded by Metrics.mu; the last one's state is shown
}

// states are the label values of a breaker's state, in the order of gateway_breaker_state.
var states = [3]string{"closed", "half_open", "open"}

// Upstream registers a handle for an upstream's breaker. state says where the breaker is: 0 closed, 1 half-open,
// 2 open. Of several handles of one name the latest is read. The caller removes it when the upstream goes.
func (m *Metrics) Upstream(name string, state func() int) *Upstream {
	name = valid(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.upstreams[name]
	if s == nil {
		s = &upstreamSeries{}
		for i, to := range states {
			s.transitions[i] = m.series.transitions.WithLabelValues(name, to)
		}
		m.upstreams[name] = s
	}
	u := &Upstream{metrics: m, name: name, state: state, series: s}
	s.handles = append(s.handles, u)
	return u
}

// Remove takes the upstream's series away, unless another handle of the same name is still registered.
func (u *Upstream) Remove() {
	m := u.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	u.series.handles = without(u.series.handles, u)
	if len(u.series.handles) == 0 && m.upstreams[u.name] == u.series {
		delete(m.upstreams, u.name)
		m.series.transitions.DeletePartialMatch(prometheus.Labels{"upstream": u.name})
	}
}

// Refused counts a request that the open breaker refused.
func (u *Upstream) Refused() { u.series.refused.Add(1) }

// Transition counts a change of the breaker's state, to 0 closed, 1 half-open or 2 open.
func (u *Upstream) Transition(to int) { u.series.transitions[to].Inc() }

// Backend is the handle for one backend of an upstream.
type Backend struct {
	metrics  *Metrics
	key      backendKey
	inflight func() int64
	up       func() bool
	duration prometheus.Observer
	ejected  prometheus.Counter
}

type backendKey struct{ upstream, url string }

// Backend registers a handle for a backend, by the URL of the config. inflight says how many requests are with it, up
// whether it gets new ones.
// Of several handles of one backend the latest is read. The caller removes it when the backend goes.
func (m *Metrics) Backend(upstream, url string, inflight func() int64, up func() bool) *Backend {
	key := backendKey{valid(upstream), valid(url)}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &Backend{metrics: m, key: key, inflight: inflight, up: up, duration: m.series.backendDuration.WithLabelValues(key.upstream, key.url),
		ejected: m.series.ejections.WithLabelValues(key.upstream, key.url)}
	m.backends[key] = append(m.backends[key], b)
	return b
}

// Remove takes the backend's series away, unless another handle of the same backend is still registered.
func (b *Backend) Remove() {
	m := b.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	if rest := without(m.backends[b.key], b); len(rest) > 0 {
		m.backends[b.key] = rest
		return
	}
	delete(m.backends, b.key)
	m.series.backendDuration.DeleteLabelValues(b.key.upstream, b.key.url)
	m.series.ejections.DeleteLabelValues(b.key.upstream, b.key.url)
}

// Observe notes how long an attempt took until the backend's response header, or until it failed.
func (b *Backend) Observe(d time.Duration) { b.duration.Observe(d.Seconds()) }

// Ejected counts that the backend was passed over because its requests failed.
func (b *Backend) Ejected() { b.ejected.Inc() }

// without is a copy of handles that lacks one: a scrape may still be reading the old slice.
func without[T comparable](handles []T, one T) []T {
	return slices.DeleteFunc(slices.Clone(handles), func(h T) bool { return h == one })
}

package metrics

import "github.com/prometheus/client_golang/prometheus"

// Retries is the handle for an upstream's further attempts.
type Retries struct {
	metrics   *Metrics
	upstream  string
	retried   map[string]prometheus.Counter
	exhausted prometheus.Counter
}

// Retries registers a handle for an upstream's further attempts. reasons are those that there can be: the config's. The
// caller removes it when the upstream goes.
func (m *Metrics) Retries(upstream string, reasons []string) *Retries {
	r := &Retries{metrics: m, upstream: valid(upstream), retried: map[string]prometheus.Counter{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.retries.add(r.upstream)
	for _, reason := range reasons {
		r.retried[reason] = m.series.retries.WithLabelValues(r.upstream, valid(reason))
	}
	r.exhausted = m.series.budgetExhausted.WithLabelValues(r.upstream)
	return r
}

// Remove takes the series away, unless another handle of the same upstream is still registered. It is called once.
func (r *Retries) Remove() {
	m := r.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.retries.drop(r.upstream) {
		m.series.retries.DeletePartialMatch(prometheus.Labels{"upstream": r.upstream})
		m.series.budgetExhausted.DeleteLabelValues(r.upstream)
	}
}

// Retried counts a further attempt, by why it was made.
func (r *Retries) Retried(reason string) {
	if c := r.retried[reason]; c != nil {
		c.Inc()
	}
}

// BudgetExhausted counts a further attempt that wasn't made, for the sake of the upstream.
func (r *Retries) BudgetExhausted() { r.exhausted.Inc() }

// Mirror is the handle for the copies of a route's requests.
type Mirror struct {
	metrics *Metrics
	uri     string
	results map[string]prometheus.Counter
}

// Mirror registers a handle for the copies of a route's requests. The caller removes it when the route goes.
func (m *Metrics) Mirror(uri string) *Mirror {
	r := &Mirror{metrics: m, uri: valid(uri), results: map[string]prometheus.Counter{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mirrors.add(r.uri)
	for _, result := range [...]string{"same", "different", "failed", "dropped"} {
		r.results[result] = m.series.mirrors.WithLabelValues(r.uri, result)
	}
	return r
}

// Remove takes the series away, unless another handle of the same route is still registered. It is called once.
func (r *Mirror) Remove() {
	m := r.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mirrors.drop(r.uri) {
		m.series.mirrors.DeletePartialMatch(prometheus.Labels{"uri": r.uri})
	}
}

// Mirrored counts a copy: same, different, failed or dropped.
func (r *Mirror) Mirrored(result string) {
	if c := r.results[result]; c != nil {
		c.Inc()
	}
}

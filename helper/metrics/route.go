package metrics

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Route is the handle for the requests of one route to one upstream.
type Route struct {
	metrics       *Metrics
	upstream, uri string

	accept, reject     prometheus.Counter
	rejected, shadowed map[string]prometheus.Counter // by code; never written after Route made it
	duration           prometheus.Observer
	overhead           prometheus.Observer

	requests  atomic.Pointer[map[outcome]prometheus.Counter] // replaced whole under metrics.mu
	exemplars []atomic.Int64                                 // per bucket: when the last exemplar was taken, since metrics.start
}

// routeKey names a set of series by its labels: those of a route have both, rejects lack the upstream, overhead the uri.
type routeKey struct{ upstream, uri string }

type outcome struct {
	method string
	status int
}

// exemplarEvery is how often a bucket of a route takes an exemplar at most.
const exemplarEvery = time.Second

// maxTraceID keeps an exemplar under OpenMetrics' 128 characters: client_golang panics past them.
const maxTraceID = 64

// Route registers a handle for a route's series; uri is the route's name, never a client's path.
// The caller removes it when the route goes.
func (m *Metrics) Route(upstream, uri string) *Route {
	upstream, uri = valid(upstream), valid(uri)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.routes.add(routeKey{upstream, uri})
	m.routes.add(routeKey{upstream: upstream})
	m.routes.add(routeKey{uri: uri})
	r := &Route{
		metrics: m, upstream: upstream, uri: uri,
		accept:    m.series.decisions.WithLabelValues(upstream, "accept", uri),
		reject:    m.series.decisions.WithLabelValues(upstream, "reject", uri),
		rejected:  map[string]prometheus.Counter{},
		shadowed:  map[string]prometheus.Counter{},
		duration:  m.series.duration.WithLabelValues(upstream, uri),
		overhead:  m.series.overhead.WithLabelValues(upstream),
		exemplars: make([]atomic.Int64, len(m.buckets)+1),
	}
	for i := range r.exemplars {
		r.exemplars[i].Store(-int64(exemplarEvery))
	}
	for _, code := range append(slices.Clone(m.codes), Other) {
		r.rejected[code] = m.series.rejects.WithLabelValues(uri, valid(code), "false")
	}
	for _, code := range m.codes {
		if code == "rate_limited" || code == "quota_exceeded" { // the only limits that can be in shadow mode
			r.shadowed[code] = m.series.rejects.WithLabelValues(uri, valid(code), "true")
		}
	}
	r.requests.Store(&map[outcome]prometheus.Counter{})
	return r
}

// Remove takes the route's series away, unless another handle of the same name is still registered. It is called once.
// The handle can still be used, by requests that outlive their route.
func (r *Route) Remove() {
	m := r.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.routes.drop(routeKey{r.upstream, r.uri}) {
		labels := prometheus.Labels{"upstream": r.upstream, "uri": r.uri}
		m.series.decisions.DeletePartialMatch(labels)
		m.series.requests.DeletePartialMatch(labels)
		m.series.duration.Delete(labels)
	}
	if m.routes.drop(routeKey{uri: r.uri}) {
		m.series.rejects.DeletePartialMatch(prometheus.Labels{"uri": r.uri})
	}
	if m.routes.drop(routeKey{upstream: r.upstream}) {
		m.series.overhead.DeleteLabelValues(r.upstream)
	}
}

// Accept counts a request that the rate limit let through.
func (r *Route) Accept() { r.accept.Inc() }

// Reject counts a request that the rate limit refused.
func (r *Route) Reject() { r.reject.Inc() }

// Rejected counts a request that the gateway refused with the reason code.
func (r *Route) Rejected(code string) { count(r.rejected, code) }

// Shadowed counts a request that a limit in shadow mode would have refused: rate_limited or quota_exceeded.
func (r *Route) Shadowed(code string) { count(r.shadowed, code) }

func count(counters map[string]prometheus.Counter, code string) {
	c := counters[code]
	if c == nil {
		c = counters[Other]
	}
	if c != nil {
		c.Inc()
	}
}

// Observe counts a finished request: what the client got (499: it didn't wait), how long it took in all, and how much
// of that wasn't spent waiting for the upstream. traceID may become the exemplar.
func (r *Route) Observe(method string, status int, duration, overhead time.Duration, traceID string) {
	r.request(method, status).Inc()
	r.overhead.Observe(overhead.Seconds())
	seconds := duration.Seconds()
	if traceID != "" && len(traceID) <= maxTraceID && r.takesExemplar(seconds) {
		r.duration.(prometheus.ExemplarObserver).ObserveWithExemplar(seconds, prometheus.Labels{"trace_id": valid(traceID)})
		return
	}
	r.duration.Observe(seconds)
}

// takesExemplar says whether the bucket of seconds is due for another exemplar. One caller at a time is told so.
func (r *Route) takesExemplar(seconds float64) bool {
	last := &r.exemplars[sort.SearchFloat64s(r.metrics.buckets, seconds)]
	now, taken := int64(time.Since(r.metrics.start)), last.Load()
	return now-taken >= int64(exemplarEvery) && last.CompareAndSwap(taken, now)
}

// request finds the counter of one method and status, and makes it when it is seen for the first time.
func (r *Route) request(method string, status int) prometheus.Counter {
	key := outcome{standardMethod(method), status}
	if status < 100 || status > 599 {
		key.status = 0
	}
	if c := (*r.requests.Load())[key]; c != nil {
		return c
	}
	m := r.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	code := Other
	if key.status != 0 {
		code = strconv.Itoa(key.status)
	}
	if m.routes[routeKey{r.upstream, r.uri}] == 0 { // a request that outlived its route must not bring the series back
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "removed"})
	}
	c := m.series.requests.WithLabelValues(r.upstream, key.method, code, r.uri)
	requests := maps.Clone(*r.requests.Load())
	requests[key] = c
	r.requests.Store(&requests)
	return c
}

// standardMethod is method if RFC 9110 or RFC 5789 defines it, else Other: a client can invent as many as it likes.
func standardMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE":
		return method
	}
	return Other
}

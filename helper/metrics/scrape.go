package metrics

import "github.com/prometheus/client_golang/prometheus"

// scraped collects what is read from others, or from an atomic, at the moment of a scrape.
type scraped struct{ m *Metrics }

// Describe sends nothing: a collector that the registry doesn't check, because its series come and go.
func (scraped) Describe(chan<- *prometheus.Desc) {}

// Collect reads the state of the breakers and backends. It calls their functions without the lock.
func (s scraped) Collect(metrics chan<- prometheus.Metric) {
	constant := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
	}
	constant(inflightDesc, prometheus.GaugeValue, float64(s.m.inflight.Load()))
	constant(retiringDesc, prometheus.GaugeValue, float64(s.m.retiring.Load()))
	upstreams, backends := s.m.latest()
	for _, u := range upstreams {
		constant(breakerStateDesc, prometheus.GaugeValue, float64(u.state()), u.name)
		// Untyped: OpenMetrics would rename a counter to circuit_breaker_open_total.
		constant(breakerOpenDesc, prometheus.UntypedValue, float64(u.series.refused.Load()), u.name)
	}
	for _, b := range backends {
		up := 0.0
		if b.up() {
			up = 1
		}
		constant(backendUpDesc, prometheus.GaugeValue, up, b.key.upstream, b.key.url)
		constant(backendInflightDesc, prometheus.GaugeValue, float64(b.inflight()), b.key.upstream, b.key.url)
	}
	for _, k := range s.m.keyAges() {
		constant(keysAgeDesc, prometheus.GaugeValue, k.age().Seconds(), k.provider)
	}
}

// latest are the handles that a scrape reads: the last registered of each name.
func (m *Metrics) latest() (upstreams []*Upstream, backends []*Backend) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.upstreams {
		upstreams = append(upstreams, s.handles[len(s.handles)-1])
	}
	for _, handles := range m.backends {
		backends = append(backends, handles[len(handles)-1])
	}
	return upstreams, backends
}

var (
	inflightDesc        = prometheus.NewDesc("gateway_inflight_requests", "Requests that are being served.", nil, nil)
	retiringDesc        = prometheus.NewDesc("gateway_config_snapshots_retiring", "Configs before the running one that requests or WebSockets still use.", nil, nil)
	breakerStateDesc    = prometheus.NewDesc("gateway_breaker_state", "State of the circuit breaker: 0 closed, 1 half-open, 2 open.", []string{"upstream"}, nil)
	breakerOpenDesc     = prometheus.NewDesc("circuit_breaker_open", "Requests that an open circuit breaker refused, a count that only grows.", []string{"upstream"}, nil)
	backendUpDesc       = prometheus.NewDesc("gateway_backend_up", "Whether the backend gets new requests: it is healthy, not ejected and not draining.", []string{"upstream", "backend"}, nil)
	keysAgeDesc         = prometheus.NewDesc("gateway_keys_age_seconds", "Time since a provider's keys were last confirmed, or since they are first being tried for.", []string{"provider"}, nil)
	backendInflightDesc = prometheus.NewDesc("gateway_backend_inflight", "Requests that are with the backend.", []string{"upstream", "backend"}, nil)
)

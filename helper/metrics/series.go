package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// series are the vectors behind the handles. Each comment lists where the label values come from.
type series struct {
	decisions       *prometheus.CounterVec   // upstream, uri: config; operation: accept, reject
	requests        *prometheus.CounterVec   // upstream, uri: config; method: the nine standard or Other; code: 100 to 599 or Other
	duration        *prometheus.HistogramVec // upstream, uri: config
	rejects         *prometheus.CounterVec   // uri: config; code: Options.Codes or Other; shadow: true, false
	overhead        *prometheus.HistogramVec // upstream: config
	transitions     *prometheus.CounterVec   // upstream: config; to: closed, half_open, open
	backendDuration *prometheus.HistogramVec // upstream, backend: config
	ejections       *prometheus.CounterVec   // upstream, backend: config
	retries         *prometheus.CounterVec   // upstream, reason: config
	budgetExhausted *prometheus.CounterVec   // upstream: config
	mirrors         *prometheus.CounterVec   // uri: config; result: same, different, failed, dropped
	auth            *prometheus.CounterVec   // provider: config; result, cache: fixed lists
	keyRefreshes    *prometheus.CounterVec   // provider: config; result: fixed list
	configReloads   *prometheus.CounterVec   // result: fixed list
	configInfo      *prometheus.GaugeVec     // hash: of the running config, one at a time
	limiterMode     *prometheus.GaugeVec     // mode: redis, local
	quotaRejects    *prometheus.CounterVec   // client: an API key's id from the config, or OtherClient
	buildInfo       *prometheus.GaugeVec     // version, go: of this build

	redisDuration prometheus.Histogram
	redisErrors   prometheus.Counter

	configOK     prometheus.Gauge
	configLoaded prometheus.Gauge
	panics       prometheus.Counter
	spoofs       prometheus.Counter
}

func newSeries(buckets []float64, native bool) series {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	histograms := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	// From what the chain costs when idle to what a starved machine makes of it, in seconds.
	overheadBuckets := []float64{0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}
	duration := prometheus.HistogramOpts{
		Name: "http_request_duration_seconds", Buckets: buckets,
		Help: "Time from the request's first byte read to the answer's last byte written, with the trace id as exemplar.",
	}
	if native {
		duration.NativeHistogramBucketFactor = 1.1 // at most 10 % apart
		duration.NativeHistogramMaxBucketNumber = 160
		duration.NativeHistogramMinResetDuration = time.Hour
	}
	return series{
		decisions: counters("gateway_requests_total", "Requests by the rate limit's decision.", "upstream", "operation", "uri"),
		requests:  counters("http_requests_total", "Requests by the status that the client got; 499 is a client that went away.", "upstream", "method", "code", "uri"),
		duration:  prometheus.NewHistogramVec(duration, []string{"upstream", "uri"}),
		rejects:   counters("gateway_rejects_total", "Requests that the gateway refused, by reason code; shadow is true where a limit in shadow mode would have.", "uri", "code", "shadow"),
		overhead:  histograms("gateway_overhead_seconds", "Time of a request that was not spent waiting for the upstream.", overheadBuckets, "upstream"),

		transitions:     counters("gateway_breaker_transitions_total", "Changes of the circuit breaker's state.", "upstream", "to"),
		backendDuration: histograms("gateway_backend_duration_seconds", "Time until the backend's response header, or until the attempt failed.", buckets, "upstream", "backend"),
		ejections:       counters("gateway_backend_ejections_total", "Times that a backend was passed over because its requests kept failing.", "upstream", "backend"),
		retries:         counters("gateway_retries_total", "Further attempts of requests, by why the one before failed.", "upstream", "reason"),
		budgetExhausted: counters("gateway_retry_budget_exhausted_total", "Further attempts that were not made because the retry budget was spent.", "upstream"),
		mirrors:         counters("gateway_mirror_results_total", "Copies of requests by what became of them; answers are compared only where the route says so.", "uri", "result"),
		auth:            counters("gateway_auth_total", "Authentication decisions; cache says whether a verified token was remembered.", "provider", "result", "cache"),
		keyRefreshes:    counters("gateway_key_refreshes_total", "Attempts to bring a provider's keys up to date.", "provider", "result"),

		configReloads: counters("gateway_config_reloads_total", "Reloads of the config.", "result"),
		configInfo:    gauges("gateway_config_info", "1 for the hash of the running config.", "hash"),
		limiterMode:   gauges("gateway_limiter_mode", "1 for where the rate limits are kept.", "mode"),
		quotaRejects:  counters("gateway_quota_rejects_total", "Requests that a caller's quota or plan refused.", "client"),
		buildInfo:     gauges("gateway_build_info", "1 for the version of this build.", "version", "go"),

		redisDuration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "gateway_redis_duration_seconds",
			Help:    "Time of a call of Redis for the limits of a request, whether it was answered or not.",
			Buckets: []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 1}}),
		redisErrors: prometheus.NewCounter(prometheus.CounterOpts{Name: "gateway_redis_errors_total",
			Help: "Calls of Redis that failed or weren't answered in time; their requests were decided locally."}),
		configOK: prometheus.NewGauge(prometheus.GaugeOpts{Name: "gateway_config_last_reload_successful",
			Help: "Whether the last load of the config was accepted."}),
		configLoaded: prometheus.NewGauge(prometheus.GaugeOpts{Name: "gateway_config_last_reload_success_timestamp_seconds",
			Help: "When the running config was loaded."}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "gateway_panics_total",
			Help: "Panics that the recovery stage caught."}),
		spoofs: prometheus.NewCounter(prometheus.CounterOpts{Name: "gateway_identity_spoofs_total",
			Help: "Requests that came with a header that only the gateway may set."}),
	}
}

func (s series) all() []prometheus.Collector {
	return []prometheus.Collector{
		s.decisions, s.requests, s.duration, s.rejects, s.overhead, s.transitions, s.backendDuration, s.ejections,
		s.retries, s.budgetExhausted, s.mirrors, s.auth, s.keyRefreshes,
		s.configReloads, s.configInfo, s.limiterMode, s.quotaRejects, s.redisDuration, s.redisErrors,
		s.buildInfo, s.configOK, s.configLoaded, s.panics, s.spoofs,
	}
}

// Describe and Collect make series one prometheus.Collector.
func (s series) Describe(descs chan<- *prometheus.Desc) {
	for _, c := range s.all() {
		c.Describe(descs)
	}
}

func (s series) Collect(metrics chan<- prometheus.Metric) {
	for _, c := range s.all() {
		c.Collect(metrics)
	}
}

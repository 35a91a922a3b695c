package metrics

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// None is the label value of what doesn't exist: the upstream and route of an unmatched request, the provider of a
// request without a credential.
const None = "_none"

// Other is the label value of what isn't on the fixed list of its label.
const Other = "OTHER"

// Options are the settings of a Metrics.
type Options struct {
	// Buckets are the upper bounds of the latency histograms in seconds, ascending. Empty means Prometheus' defaults.
	Buckets []float64
	// NativeHistograms exposes http_request_duration_seconds as a native histogram besides the classic one.
	NativeHistograms bool
	// Version and GoVersion are the labels of gateway_build_info.
	Version, GoVersion string
	// Codes are the reason codes with which the gateway refuses a request.
	Codes []string
	// LogDropped, where set, is read at scrape time for gateway_log_dropped_total.
	LogDropped func() uint64
}

// Metrics is the gateway's series and their registry. Make it with New, once a process.
type Metrics struct {
	registry  *prometheus.Registry
	start     time.Time
	series    series
	codes     []string
	buckets   []float64
	unmatched *Route

	inflight atomic.Int64
	retiring atomic.Int64
	auth     atomic.Pointer[map[authKey]prometheus.Counter] // replaced whole under mu
	clients  atomic.Pointer[map[string]prometheus.Counter]  // by API key; replaced whole under mu

	mu        sync.Mutex // guards what follows; never held while a function of somebody else runs
	routes    holds[routeKey]
	providers holds[string]
	retries   holds[string]      // by upstream
	mirrors   holds[string]      // by route
	keys      map[string][]*Keys // by provider
	upstreams map[string]*upstreamSeries
	backends  map[backendKey][]*Backend
}

// New makes the series and registers them, and Go's and the process's own, in a new registry.
func New(options Options) *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		start:     time.Now(),
		codes:     options.Codes,
		buckets:   options.Buckets,
		routes:    holds[routeKey]{},
		providers: holds[string]{},
		retries:   holds[string]{},
		mirrors:   holds[string]{},
		keys:      map[string][]*Keys{},
		upstreams: map[string]*upstreamSeries{},
		backends:  map[backendKey][]*Backend{},
	}
	if len(m.buckets) == 0 {
		m.buckets = prometheus.DefBuckets
	}
	m.series = newSeries(m.buckets, options.NativeHistograms)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.series, scraped{m})
	if options.LogDropped != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "gateway_log_dropped_total", Help: "Log lines that could not be written and were dropped.",
		}, func() float64 { return float64(options.LogDropped()) }))
	}
	m.series.buildInfo.WithLabelValues(valid(options.Version), valid(options.GoVersion)).Set(1)
	m.LimiterMode(false)
	for _, result := range []string{ReloadSuccess, ReloadFailure, ReloadUnchanged} {
		m.series.configReloads.WithLabelValues(result)
	}
	m.auth.Store(&map[authKey]prometheus.Counter{})
	m.clients.Store(&map[string]prometheus.Counter{})
	m.Clients(nil)
	m.Provider(None)
	m.unmatched = m.Route(None, None)
	return m
}

// Handler serves the series as text or, to a scraper that asks for it, as OpenMetrics with exemplars or as protobuf
// with native histograms. A series that can't be gathered is left out; the others are still served.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, ErrorHandling: promhttp.ContinueOnError})
}

// Gatherer gives the series to a test or to another exporter.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Unmatched is the handle for requests that no route took.
func (m *Metrics) Unmatched() *Route { return m.unmatched }

// InflightAdd changes the number of requests that are being served, by 1 when one begins and by -1 when it ends.
func (m *Metrics) InflightAdd(delta int64) { m.inflight.Add(delta) }

// Panic counts a panic that the recovery stage caught.
func (m *Metrics) Panic() { m.series.panics.Inc() }

// Spoof counts a request that came with a header that only the gateway may set.
func (m *Metrics) Spoof() { m.series.spoofs.Inc() }

// holds counts the handles that share a series, so that it goes with the last of them.
type holds[K comparable] map[K]int

func (h holds[K]) add(key K) { h[key]++ }

// drop says whether key's last handle went.
func (h holds[K]) drop(key K) bool {
	h[key]--
	if h[key] > 0 {
		return false
	}
	delete(h, key)
	return true
}

// valid makes s a label value that Prometheus accepts.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

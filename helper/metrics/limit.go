package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// OtherClient is the label value of a caller who isn't a configured API key.
const OtherClient = "_other"

// Where the limits are kept.
const (
	limitsInRedis = "redis"
	limitsLocally = "local"
)

// LimiterMode shows where the limits are kept: in Redis, or in this process.
func (m *Metrics) LimiterMode(redis bool) {
	in := map[bool]float64{true: 1}
	m.series.limiterMode.WithLabelValues(limitsInRedis).Set(in[redis])
	m.series.limiterMode.WithLabelValues(limitsLocally).Set(in[!redis])
}

// RedisCall counts a call of Redis: how long it took, and how it failed.
func (m *Metrics) RedisCall(took time.Duration, err error) {
	m.series.redisDuration.Observe(took.Seconds())
	if err != nil {
		m.series.redisErrors.Inc()
	}
}

// Clients says which API keys are configured now: those have a series of their own, the others lose it.
func (m *Metrics) Clients(ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := *m.clients.Load()
	now := make(map[string]prometheus.Counter, len(ids)+1)
	for _, id := range append(slices.Clone(ids), OtherClient) {
		now[id] = m.series.quotaRejects.WithLabelValues(valid(id))
	}
	m.clients.Store(&now)
	for id := range before {
		if now[id] == nil {
			m.series.quotaRejects.DeleteLabelValues(valid(id))
		}
	}
}

// QuotaRejected counts a request that a caller's quota refused; client is an API key's id.
func (m *Metrics) QuotaRejected(client string) {
	counters := *m.clients.Load()
	c := counters[client]
	if c == nil {
		c = counters[OtherClient]
	}
	c.Inc()
}

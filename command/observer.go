package command

import (
	"time"

	"gatehouse/handler/gateway"
	"gatehouse/helper/exchange"
	"gatehouse/helper/metrics"
)

// observer lets the gateway count in the metrics without knowing them.
type observer struct{ metrics *metrics.Metrics }

var _ gateway.Observer = observer{}

func (o observer) Route(upstream, route string) gateway.RouteObserver {
	return o.metrics.Route(upstream, route)
}

func (o observer) Upstream(name string, state func() int) gateway.UpstreamObserver {
	return o.metrics.Upstream(name, state)
}

func (o observer) Backend(upstream, url string, inFlight func() int64, up func() bool) gateway.BackendObserver {
	return o.metrics.Backend(upstream, url, inFlight, up)
}

func (o observer) Retries(upstream string, reasons []string) gateway.RetryObserver {
	return o.metrics.Retries(upstream, reasons)
}

func (o observer) Mirror(route string) gateway.MirrorObserver { return o.metrics.Mirror(route) }

func (o observer) Provider(name string) gateway.Remover { return o.metrics.Provider(name) }
func (o observer) Keys(provider string, age func() time.Duration) gateway.Remover {
	return o.metrics.Keys(provider, age)
}
func (o observer) KeysRefreshed(provider, result string) { o.metrics.KeysRefreshed(provider, result) }
func (o observer) Unmatched() exchange.Observer          { return o.metrics.Unmatched() }
func (o observer) Auth(provider, result, cache string)   { o.metrics.Auth(provider, result, cache) }
func (o observer) Retiring(delta int64)                  { o.metrics.Retiring(delta) }
func (o observer) InFlight(delta int64)                  { o.metrics.InflightAdd(delta) }
func (o observer) Clients(ids []string)                  { o.metrics.Clients(ids) }
func (o observer) LimiterMode(redis bool)                { o.metrics.LimiterMode(redis) }
func (o observer) QuotaRejected(client string)           { o.metrics.QuotaRejected(client) }
func (o observer) RedisCall(took time.Duration, e error) { o.metrics.RedisCall(took, e) }
func (o observer) Panic()                                { o.metrics.Panic() }
func (o observer) Spoof()                                { o.metrics.Spoof() }

package gateway

import (
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/middleware"
)

// Observer is told what happens, for the metrics. Its methods may be called
// concurrently.
type Observer interface {
	middleware.AuthObserver
	// Route, Upstream, Backend, Retries, Mirror and Provider give the handles of what a
	// configuration names. The same name can be asked for again before the first
	// handle is removed: both count for the same series.
	Route(upstream, route string) RouteObserver
	Upstream(name string, state func() int) UpstreamObserver
	Backend(upstream, url string, inFlight func() int64, up func() bool) BackendObserver
	// Retries gives the handle for an upstream's further attempts, with the reasons
	// that there can be.
	Retries(upstream string, reasons []string) RetryObserver
	// Mirror gives the handle for a route's copies.
	Mirror(route string) MirrorObserver
	Provider(name string) Remover
	// Keys gives the handle of a provider's keys, which age says the age of;
	// nil: they have none.
	Keys(provider string, age func() time.Duration) Remover
	// KeysRefreshed counts an attempt to bring them up to date, by its result.
	KeysRefreshed(provider, result string)
	// Clients says which API keys are configured now.
	Clients(ids []string)
	// LimiterMode says whether the limits are shared through Redis now.
	LimiterMode(redis bool)
	RedisCall(took time.Duration, err error)
	QuotaRejected(client string)
	// Unmatched is for requests without a route.
	Unmatched() exchange.Observer

	InFlight(delta int64)
	// Retiring is told of a configuration that isn't the current one any more and is
	// still in use, by 1, and by -1 when nothing uses it.
	Retiring(delta int64)
	Panic()
	Spoof()
}

// Remover takes the series of a handle away, once its configuration is gone.
type Remover interface{ Remove() }

// RouteObserver counts for one route.
type RouteObserver interface {
	Remover
	exchange.Observer
	Shadowed(code string)
}

// UpstreamObserver counts for one upstream's breaker.
type UpstreamObserver interface {
	Remover
	Refused()
	Transition(to int)
}

// BackendObserver counts for one backend.
type BackendObserver interface {
	Remover
	Observe(time.Duration)
	// Ejected counts that the backend was passed over, because its requests failed.
	Ejected()
}

// RetryObserver counts an upstream's further attempts.
type RetryObserver interface {
	Remover
	Retried(reason string)
	BudgetExhausted()
}

// MirrorObserver counts what became of a route's copies.
type MirrorObserver interface {
	Remover
	Mirrored(result string)
}

// routeObserver counts for a route, and for its upstream's breaker.
type routeObserver struct {
	RouteObserver
	upstream UpstreamObserver
	quotas   func(client string)
}

func (o routeObserver) BreakerRefused()             { o.upstream.Refused() }
func (o routeObserver) QuotaRejected(client string) { o.quotas(client) }

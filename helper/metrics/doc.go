// Package metrics holds every Prometheus series that the gateway exports, in one struct with a registry of its own.
//
// It guarantees that label values are bounded and valid: they come from the configuration or from a fixed list, an
// unknown method or status is OTHER, an unmatched request is None, and a byte that isn't UTF-8 is replaced, so that no
// name can fail a scrape. Series whose labels come from the configuration stand at 0 as soon as their Route, Upstream,
// Backend or Provider is registered, and go when the last handle of that name is removed. Registering a name again
// gives another handle on the same series: a reload registers the new configuration's handles, then removes the old
// ones, and no count is lost or doubled. What the breaker and the backends know is read from them at scrape time.
//
// A request touches handles only: no label is looked up and no lock is taken once a route has seen its method and
// status. Exemplars are sampled, at most one a second for each bucket of a route, because making one costs more than
// all the rest; the rare slow request therefore still has its own.
//
// It doesn't compute anything from the series, doesn't keep them over a restart, and knows no other package of the
// gateway: who calls it decides what a refusal or a transition is.
//
// All methods may be called at the same time from any number of goroutines. Functions given to this package are called
// during a scrape, without a lock held, and must be safe for concurrent use.
package metrics

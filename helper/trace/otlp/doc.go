// Package otlp sends what became of requests to an OpenTelemetry collector, over
// OTLP/HTTP: one server span per sampled request, and below it one client span
// per attempt to reach a backend and per round trip to Redis. A fetch of keys is
// a trace of its own, with a span for each document.
//
// It guarantees that recording never waits for the collector: spans are queued,
// sent in batches, and dropped when the queue is full. Nothing that a client
// sends is in a span but the method, the path without its query, and the host.
// It decides nothing about sampling, and doesn't make spans as things happen but
// from the finished record, so that a request that isn't sampled costs nothing.
//
// An Exporter may be used by any number of goroutines.
package otlp

// Package trace reads and writes the identifiers that tie the log lines, metrics and upstream calls of one request
// together: the W3C traceparent, its tracestate, and the X-Request-Id of a trusted proxy.
//
// It guarantees that what Parse, ValidTracestate and ValidRequestID accept is bounded in size and safe to log and to
// forward. It says what spans are made of and which requests have any, but doesn't export them; it does not decide who is
// trusted, and its random identifiers are unique, not secret.
//
// Everything here is a value or a pure function and may be used from any goroutine.
package trace

// Package problem is the one place that knows which error codes the gateway
// answers with, their statuses, and how such an answer looks on the wire:
// RFC 9457 problem details with a stable machine-readable code, and RFC 9209
// Proxy-Status where the upstream is at fault.
//
// It guarantees that an answer never carries an upstream's address or the
// text of a library's error: Detail is written by the gateway alone. It
// doesn't decide when to refuse; the stages do.
package problem

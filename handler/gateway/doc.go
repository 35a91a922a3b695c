// Package gateway compiles a configuration into the handler that serves it, and
// is the first and the last to see each request.
//
// Build turns every section into a ready value: a route table whose leaves are
// complete chains. Serving looks nothing up by name, validates nothing and takes
// no lock. Whatever becomes of a request, also a panic, it is counted once in
// the metrics and makes one line in the access log.
//
// A Gateway is safe for concurrent use. Run must run while it serves.
package gateway

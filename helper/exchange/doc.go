// Package exchange is the record of one request on its way through the
// gateway, and the only value that the gateway puts in a request's context.
//
// An Exchange is begun once per request and wraps the ResponseWriter once.
// Stages and filters read the inbound request and never change it for the
// upstream: what they want the upstream or the client to see they queue here,
// and the proxy applies the queues after hop-by-hop removal, so that a client
// can't drop them by naming them in Connection.
//
// An Exchange belongs to the goroutine that serves the request, but for the
// fields that say otherwise. It must not be kept after the request has ended.
package exchange

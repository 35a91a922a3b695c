// Package proxy sends a request to a backend of its upstream and streams the
// answer back.
//
// There is one httputil.NewSingleHostReverseProxy per backend, driven by its
// Rewrite; the handler of a route picks a backend and tries it, and another one
// when that fails and helper/retry allows it. The path and the query reach the
// backend byte for byte, but for the route's prefix and rewrite. Headers that only
// the gateway may set are removed however the client spells them, in the header,
// in Connection or in a trailer, on every route.
//
// What became of the call is recorded in the exchange, judged once, at the header
// of the last attempt's answer; each attempt is judged for its backend. A failed
// attempt writes nothing to the client; the handler turns the last one into a
// problem afterwards. An answer that breaks off after its header went out ends the
// client's connection, so that it can't pass for whole.
//
// A Mirror copies requests to another upstream; its goroutines are those of Run.
package proxy

// Package proxy sends a request to a backend of its upstream and streams the
// answer back.
//
// There is one httputil.NewSingleHostReverseProxy per backend, driven by its
// Rewrite; the handler of a route picks a backend and tries it. The path and
// the query reach the backend byte for byte, but for the route's prefix and
// rewrite. Headers that only the gateway may set are removed however the client
// spells them, in the header, in Connection or in a trailer, on every route.
//
// What became of the call is recorded in the exchange, judged at the header of
// the answer. A failed attempt writes nothing to the client; the handler turns
// it into a problem afterwards. An answer that breaks off after its header went
// out ends the client's connection, so that it can't pass for whole.
package proxy

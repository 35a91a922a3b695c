// Package server makes a listener and the HTTP server on it one value, and ends it in the order that load balancers need.
//
// Guarantees: New opens the listener, so that a taken port is found before anything starts; a client that sends its
// header slowly, or nothing at all, is cut; every request, OPTIONS * included, reaches the handler; the socket file of a
// unix listener is gone at the end; the header of the PROXY protocol counts from the addresses it is read from, and is garbage from
// all others. Drain always ends, and says how many requests it had to cut.
//
// Non-guarantees: there is no limit on how long a body or an answer takes, because that differs by route; whoever handles
// the request sets deadlines. A header that is too large is answered 431 by net/http, in plain text, without reaching the
// handler. The header of the PROXY protocol is believed, not required: a trusted proxy's own checks come without one.
//
// With Options.Watches, the context of an HTTP/1 request without TLS doesn't end with its client: Conn.Watch tells.
//
// Concurrency: Serve is called once; the other methods may be called from any goroutine at any time.
package server

// Package transport makes the one http.RoundTripper through which everything
// that goes to a backend travels. It is a seam: a faster or a failing round
// tripper can stand in its place without a stage noticing. New makes net/http's,
// and NewLane the faster one for the common case, with net/http's for the rest.
//
// Neither uses a proxy from the environment, asks for or undoes compression, or
// follows a redirect: what the backend answers is what the client gets. The
// header of an answer is bounded. Both send, accept and refuse the same, but for
// what Lane lists. Options.MaxIdle is for each of the lane and its net/http.
//
// Round trippers are safe for concurrent use. They have no goroutine that needs an
// owner, but connections: CloseIdleConnections ends the unused ones.
package transport

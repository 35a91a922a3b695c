// Package acmetest is an ACME authority for tests: Pebble, Let's Encrypt's own, in this process, to which every name leads
// to 127.0.0.1. It checks names over TLS (RFC 8737) and signs certificates that only it vouches for. It is for tests only; an
// Authority may be used concurrently once Check has been called.
package acmetest

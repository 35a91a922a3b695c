// Package clientip finds the address that a request comes from, for the log, the limits and the allow lists, and makes
// the forwarding headers that tell it to the upstream.
//
// It guarantees that nothing an untrusted peer says about addresses is read, that behind trusted proxies the rightmost
// address that is not one of them counts, so that a client can't choose its own, and that an address has one spelling:
// IPv4 in IPv6 is IPv4, and there is no zone. It does not look addresses up, and it believes whatever a trusted proxy
// wrote.
//
// A Resolver doesn't change once made, a Client is a value, and both may be used from any goroutine.
package clientip

// Package acme gets certificates from an ACME authority (RFC 8555), such as Let's Encrypt, and renews them.
//
// It guarantees that certificates are asked for the listed host names only, whatever name a client asks for, that those it has
// are kept in a folder and used again after a restart, and that they are renewed a month before they end, or when a third of
// their life is left.
//
// The authority checks a name over TLS itself, on the public listener (TLS-ALPN-01, RFC 8737): the name must lead there on
// port 443, and there is no second listener, no DNS credential and no wildcard. Nothing is done before a name is asked for:
// its first handshake waits for the certificate, and fails, as do those of the minute after it, where the authority refuses.
// Running means to agree to the authority's terms of service.
//
// An Issuer may be used from any goroutine. Renewals run on the library's own timers.
package acme

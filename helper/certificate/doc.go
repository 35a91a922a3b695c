// Package certificate keeps the certificates that a TLS server shows and the CA that it asks of its clients, and reads their
// files again when they change.
//
// It guarantees that a handshake sees one state of all files, that files which are no good (half of a pair renewed, a key that
// doesn't match) change nothing and are reported, and modern defaults: TLS 1.2 or newer, forward secrecy only, HTTP/2 where
// the client speaks it. The certificate is chosen by the server name that the client asks for (RFC 6066, section 3); a client
// that asks for none, or for an unknown one, gets the first.
//
// It doesn't look whether a certificate has expired, or whether a client's was revoked. Connections that are open keep what
// they were opened with.
//
// A Store is run once, by one goroutine; its TLS configuration may be used by any number of servers at the same time.
package certificate

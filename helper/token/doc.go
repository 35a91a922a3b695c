// Package token verifies JSON Web Tokens (RFC 7519, RFC 8725) and signs them for development.
//
// It guarantees that what [Verifier.Verify] accepts was signed by a key of the provider that its iss names, with one
// of the algorithms that the provider lists, is within its time, and is meant for this gateway. There is no way to
// accept an unsigned token: "none" isn't among the algorithms. A key serves only the algorithms of its own kind, so a
// public key can't be used as an HMAC secret. Anything ambiguous is refused: names given twice, base64 with leftover
// bits, times that aren't numbers.
//
// It doesn't check scopes or a route's claims (package identity does), doesn't follow jku, x5u or jwk headers, and
// doesn't decrypt.
//
// A [Cache] remembers what a Verifier accepted, never what it refused, for as long as that holds and within a fixed amount
// of memory. The text of the token itself is the key, so that no collision of hashes can give one caller another's identity.
//
// A Verifier is immutable, and both can be used by any number of goroutines.
package token

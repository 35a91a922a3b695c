// Package keyset holds the keys that tokens are verified with, and reads and writes them: PEM files, JSON Web Keys
// (RFC 7517, RFC 8037) and their thumbprints (RFC 7638). Its sources keep a set of keys up to date: [Remote] from a URL or
// by OpenID Connect discovery, [File] from a file.
//
// It guarantees that a [Key] only ever serves the algorithms of its own kind: RSA keys RS* and PS*, a key on a NIST
// curve the one ES* of that curve, Ed25519 keys EdDSA, and a secret HS*. A public key therefore can't become an HMAC
// secret, whatever a token's header says. Weak keys (RSA under 2048 bits, secrets under 32 bytes) can't be made into
// a Key.
//
// A source keeps the last good set while its issuer or file is broken, and fetches ahead of need: a request waits for the
// issuer only when it names a key that isn't known, and then at most for one fetch. However many ask, one fetch is in
// flight, and unknown keys cause one per cooldown.
//
// It doesn't verify signatures (package token does), and doesn't check a certificate's dates or issuer (the file that the
// operator named is what is trusted).
//
// Keys and sets are immutable and can be used by any number of goroutines, and so can sources, whose Run is called once.
package keyset

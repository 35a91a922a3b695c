// Package keyset holds the keys that tokens are verified with, and reads and writes them: PEM files, JSON Web Keys
// (RFC 7517, RFC 8037) and their thumbprints (RFC 7638).
//
// It guarantees that a [Key] only ever serves the algorithms of its own kind: RSA keys RS* and PS*, a key on a NIST
// curve the one ES* of that curve, Ed25519 keys EdDSA, and a secret HS*. A public key therefore can't become an HMAC
// secret, whatever a token's header says. Weak keys (RSA under 2048 bits, secrets under 32 bytes) can't be made into
// a Key.
//
// It doesn't verify signatures (package token does), doesn't check a certificate's dates or issuer (the file that the
// operator named is what is trusted), and doesn't fetch anything yet.
//
// Keys and sets are immutable and can be used by any number of goroutines.
package keyset

package keyset

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
)

const (
	minRSABits     = 2048 // RFC 7518, section 3.3
	maxRSABits     = 8192 // above it one verification costs more than any issuer needs
	minSecretBytes = 32   // RFC 7518, section 3.2, for HS256
)

// Algorithms returns the names of all signature algorithms that keys can be used with (RFC 7518, section 3.1, and RFC
// 8037, section 3.1). "none" isn't one.
func Algorithms() []string {
	return slices.Concat(rsaAlgorithms(), []string{"ES256", "ES384", "ES512", "EdDSA"}, secretAlgorithms())
}

func rsaAlgorithms() []string    { return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"} }
func secretAlgorithms() []string { return []string{"HS256", "HS384", "HS512"} }

// Key is one key that can verify signatures. The zero Key fits no algorithm.
type Key struct {
	// ID is the key's kid; a key without one answers to every kid.
	ID string
	// algorithms is what the key may be used with: all of its kind, or the one that it is bound to.
	algorithms []string
	// material is *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey or, from NewSecret only, []byte.
	material any
}

// NewPublic makes a Key of an *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey. A non-empty algorithm binds the
// key to it. A weak key, another type or an algorithm of another kind is an error.
func NewPublic(id, algorithm string, public crypto.PublicKey) (Key, error) {
	fitting, err := publicAlgorithms(public)
	if err != nil {
		return Key{}, err
	}
	return newKey(id, algorithm, public, fitting)
}

// NewSecret makes a Key of a shared secret of at least 32 bytes, which only HS* algorithms can use. A non-empty
// algorithm binds the key to it.
func NewSecret(id, algorithm string, secret []byte) (Key, error) {
	if len(secret) < minSecretBytes {
		return Key{}, fmt.Errorf("weak secret: %d bytes, at least %d are needed", len(secret), minSecretBytes)
	}
	return newKey(id, algorithm, slices.Clone(secret), secretAlgorithms())
}

func newKey(id, algorithm string, material any, fitting []string) (Key, error) {
	if algorithm != "" {
		if !slices.Contains(fitting, algorithm) {
			return Key{}, fmt.Errorf("algorithm %q doesn't fit the key, which can be used with %v", algorithm, fitting)
		}
		fitting = []string{algorithm}
	}
	return Key{ID: id, algorithms: fitting, material: material}, nil
}

// publicAlgorithms returns the algorithms of a public key's kind, once the key is known to be strong enough.
func publicAlgorithms(public crypto.PublicKey) ([]string, error) {
	switch public := public.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return nil, fmt.Errorf("weak key: RSA with %d bits, %d to %d are needed", bits, minRSABits, maxRSABits)
		}
		if public.E < 3 || public.E%2 == 0 {
			return nil, fmt.Errorf("weak key: RSA with exponent %d", public.E)
		}
		return rsaAlgorithms(), nil
	case *ecdsa.PublicKey:
		var algorithm string
		switch public.Curve {
		case elliptic.P256():
			algorithm = "ES256"
		case elliptic.P384():
			algorithm = "ES384"
		case elliptic.P521():
			algorithm = "ES512"
		default:
			return nil, errors.New("its curve isn't supported: P-256, P-384 and P-521 are")
		}
		// ECDH refuses a point that isn't on the curve.
		if _, err := public.ECDH(); err != nil {
			return nil, fmt.Errorf("checking EC key: %w", err)
		}
		return []string{algorithm}, nil
	case ed25519.PublicKey:
		if len(public) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("Ed25519 key has %d bytes, not %d", len(public), ed25519.PublicKeySize)
		}
		return []string{"EdDSA"}, nil
	}
	return nil, fmt.Errorf("a key of type %T isn't supported", public)
}

// Fits reports whether the key may verify signatures made with algorithm.
func (k Key) Fits(algorithm string) bool { return slices.Contains(k.algorithms, algorithm) }

// Kind names what the key is, such as RSA, EC P-256, Ed25519 or secret.
func (k Key) Kind() string {
	switch material := k.material.(type) {
	case *rsa.PublicKey:
		return "RSA"
	case *ecdsa.PublicKey:
		return "EC " + material.Curve.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return "secret"
}

// Material returns what a verification function needs: *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey, or
// []byte for a secret. The caller must not change it.
func (k Key) Material() any { return k.material }

// Public returns the public key; false for a secret, which nothing may publish.
func (k Key) Public() (crypto.PublicKey, bool) {
	_, secret := k.material.([]byte)
	return k.material, k.material != nil && !secret
}

// equal says whether two keys have the same ID, algorithms and material.
func (k Key) equal(other Key) bool {
	if k.ID != other.ID || !slices.Equal(k.algorithms, other.algorithms) {
		return false
	}
	switch material := k.material.(type) {
	case []byte:
		secret, ok := other.material.([]byte)
		return ok && bytes.Equal(material, secret)
	case interface{ Equal(crypto.PublicKey) bool }:
		return material.Equal(other.material)
	}
	return false
}

// String returns the key's ID and algorithms, never its material.
func (k Key) String() string { return fmt.Sprintf("key %q %v", k.ID, k.algorithms) }

// GoString keeps the material out of %#v too.
func (k Key) GoString() string { return k.String() }

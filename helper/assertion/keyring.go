package assertion

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/helper/keyset"
)

// overlap is how long a key stays published after another took its place. Services keep a key set for minutes.
const overlap = time.Hour

const algorithm = "EdDSA"

// signingKey is a private key and how it is published.
type signingKey struct {
	private crypto.Signer
	jwk     keyset.JWK
}

// Keyring is the key that signs, and the one that did before. The zero Keyring has none.
type Keyring struct {
	now      atomic.Pointer[signingKey]
	mu       sync.Mutex // held while keys are changed or listed
	previous *signingKey
	until    time.Time // when previous isn't published any more
}

// NewKeyring makes a Keyring that signs with a new key of its own.
func NewKeyring() (*Keyring, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the assertions' key: %w", err)
	}
	k := &Keyring{}
	return k, k.Rotate(private)
}

// Rotate signs with private from now on. Anything but an ed25519.PrivateKey is an error, and changes nothing.
func (k *Keyring) Rotate(private crypto.Signer) error {
	if _, ok := private.(ed25519.PrivateKey); !ok {
		return errors.New("it isn't an Ed25519 key")
	}
	jwk, err := keyset.NewJWK(private.Public(), algorithm)
	if err != nil {
		return fmt.Errorf("publishing the assertions' key: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.now.Load()
	if old != nil && old.jwk.ID == jwk.ID {
		return nil
	}
	k.previous, k.until = old, time.Now().Add(overlap)
	k.now.Store(&signingKey{private, jwk})
	return nil
}

// JWKS is the keys to publish (RFC 7517), the one that signs first.
func (k *Keyring) JWKS() keyset.JWKS {
	k.mu.Lock()
	defer k.mu.Unlock()
	set := keyset.JWKS{Keys: []keyset.JWK{}}
	if now := k.now.Load(); now != nil {
		set.Keys = append(set.Keys, now.jwk)
	}
	if k.previous != nil && time.Now().Before(k.until) {
		set.Keys = append(set.Keys, k.previous.jwk)
	}
	return set
}

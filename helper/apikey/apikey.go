package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"gatehouse/helper/identity"
)

// Provider is the name under which callers with an API key are counted; no configured provider can have it.
const Provider = "_api_key"

// Hash is the SHA-256 of a key.
type Hash [sha256.Size]byte

// ParseHash reads 64 hexadecimal digits.
func ParseHash(text string) (hash Hash, err error) {
	digest, err := hex.DecodeString(text)
	if err != nil || len(digest) != len(hash) {
		return Hash{}, fmt.Errorf("a SHA-256 has %d hexadecimal digits", 2*len(hash))
	}
	return Hash(digest), nil
}

// String is the hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Generate makes a key and its hash. The key begins with gh_, by which a scanner for leaked secrets can know it.
func Generate() (key string, hash Hash) {
	random := make([]byte, 32)
	rand.Read(random) // it never fails
	key = "gh_" + base64.RawURLEncoding.EncodeToString(random)
	return key, sha256.Sum256([]byte(key))
}

// Key is what is known of one key.
type Key struct {
	ID      string
	Hash    Hash
	Scopes  []string
	Plan    string    // "": none
	Expires time.Time // from when on it isn't valid; zero: never
}

// The reasons to refuse a key.
var (
	ErrUnknown = errors.New("API key isn't known")
	ErrExpired = errors.New("API key has expired")
)

// Store finds callers by their keys.
type Store struct {
	callers atomic.Pointer[map[Hash]*identity.Principal]
}

// NewStore makes a Store of keys; see [Store.Replace].
func NewStore(keys []Key) (*Store, error) {
	s := &Store{}
	return s, s.Replace(keys)
}

// Replace puts keys in the place of all that the Store had. Two with the same ID or the same hash are an error, and change
// nothing.
func (s *Store) Replace(keys []Key) error {
	callers := make(map[Hash]*identity.Principal, len(keys))
	ids := make(map[string]bool, len(keys))
	for _, key := range keys {
		if ids[key.ID] {
			return fmt.Errorf("API key %s: there are two with this id", key.ID)
		}
		if other := callers[key.Hash]; other != nil {
			return fmt.Errorf("API key %s: it is the same key as that of %s", key.ID, other.Client)
		}
		ids[key.ID], callers[key.Hash] = true, key.principal()
	}
	s.callers.Store(&callers)
	return nil
}

// principal is made once, so that a request allocates nothing.
func (k Key) principal() *identity.Principal {
	p := &identity.Principal{Provider: Provider, Subject: k.ID, Client: k.ID, Scopes: k.Scopes, Plan: k.Plan, Expires: k.Expires, ForwardToken: true}
	for _, header := range []struct{ name, text string }{{"X-User-Id", k.ID}, {"X-User-Scopes", strings.Join(k.Scopes, " ")}} {
		if value, ok := identity.HeaderValue(header.text); ok {
			p.Headers = append(p.Headers, identity.Header{Name: header.name, Value: value})
		}
	}
	return p
}

// Caller returns who the key belongs to. Its error is ErrUnknown, or, with the principal, ErrExpired.
func (s *Store) Caller(key string, now time.Time) (*identity.Principal, error) {
	return valid((*s.callers.Load())[sha256.Sum256([]byte(key))], now)
}

// Named is like Caller, by the key's id in place of the key.
func (s *Store) Named(id string, now time.Time) (*identity.Principal, error) {
	for _, p := range *s.callers.Load() {
		if p.Client == id {
			return valid(p, now)
		}
	}
	return nil, ErrUnknown
}

func valid(p *identity.Principal, now time.Time) (*identity.Principal, error) {
	switch {
	case p == nil:
		return nil, ErrUnknown
	case !p.Expires.IsZero() && !now.Before(p.Expires):
		return p, ErrExpired
	}
	return p, nil
}

// IDs are the ids of all keys, in no order.
func (s *Store) IDs() []string {
	callers := *s.callers.Load()
	ids := make([]string, 0, len(callers))
	for _, p := range callers {
		ids = append(ids, p.Client)
	}
	return ids
}

// Len is how many keys there are.
func (s *Store) Len() int { return len(*s.callers.Load()) }

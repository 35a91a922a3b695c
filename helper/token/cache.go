package token

import (
	"context"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"gatehouse/helper/identity"
)

// CacheSize is how much memory a Cache uses where nothing else is said: about 10,000 tokens of 1 KB.
const CacheSize = 64 << 20

// Cache verifies a token once and then remembers who it is from, until its exp is past, a key has left its provider's
// set, or the memory is needed for others.
//
// It doesn't know of revocations: those are to be asked about each principal that it returns.
type Cache struct {
	verifier *Verifier
	entries  *otter.Cache[cacheKey, *verification]
	flights  singleflight.Group // equal tokens at once are verified once
}

// cacheKey holds the provider that the route asks for as well: a token that is right for one may not be for another.
type cacheKey struct{ provider, raw string }

// NewCache makes a Cache that uses at most about size bytes of memory.
func NewCache(verifier *Verifier, size uint64) *Cache {
	return &Cache{verifier: verifier, entries: otter.Must(&otter.Options[cacheKey, *verification]{
		MaximumWeight: size,
		Weigher:       func(key cacheKey, _ *verification) uint32 { return weight(key) },
		Executor:      func(task func()) { task() }, // on the caller's goroutine: there is no other to wait for
	})}
}

// weight estimates what an entry takes, in bytes: the token, its claims decoded, and what stands around them.
func weight(key cacheKey) uint32 { return uint32(2048 + 4*len(key.raw)) } //nolint:gosec // a token is at most 16 KiB

// Verify is like [Verifier.Verify]. hit says that the token was remembered.
func (c *Cache) Verify(ctx context.Context, raw, providerName string) (principal *identity.Principal, hit bool, err error) {
	key := cacheKey{providerName, raw}
	if found, ok := c.look(key); ok {
		return found.principal, true, nil
	}
	// One that waits mustn't fail because the one it waits for was given up, so nobody's ctx ends the work; what takes time
	// in it, waiting for keys, has a limit of its own.
	shared, err, _ := c.flights.Do(providerName+"\x00"+raw, func() (any, error) {
		if found, ok := c.look(key); ok { // another flight has just landed
			return found, nil
		}
		verified, err := c.verifier.verify(raw, providerName, asking(context.WithoutCancel(ctx)))
		if err != nil {
			return nil, err
		}
		c.entries.Set(cacheKey{providerName, string([]byte(raw))}, verified) // a copy: raw is a part of the request's header
		return verified, nil
	})
	if err != nil {
		return nil, false, err
	}
	return shared.(*verification).principal, false, nil
}

// look finds an entry that still holds.
func (c *Cache) look(key cacheKey) (*verification, bool) {
	found, ok := c.entries.GetIfPresent(key)
	if !ok || found.generation != found.provider.generation() || !time.Now().Before(found.until) {
		return nil, false // what doesn't hold any more is replaced or pushed out
	}
	return found, true
}

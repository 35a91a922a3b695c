package token_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// counting is a source that counts how often it is asked, and whose keys can be changed.
type counting struct {
	asked      atomic.Int64
	generation atomic.Uint64
	set        atomic.Pointer[keyset.Set]
}

func newCounting(keys ...keyset.Key) *counting {
	c := &counting{}
	c.set.Store(keyset.NewSet(keys...))
	return c
}

func (c *counting) Keys(ctx context.Context, kid, algorithm string) ([]keyset.Key, error) {
	c.asked.Add(1)
	return c.set.Load().Keys(ctx, kid, algorithm)
}

func (c *counting) Generation() uint64 { return c.generation.Load() }

// replace puts keys in place, as a source does when a key has left.
func (c *counting) replace(keys ...keyset.Key) {
	c.set.Store(keyset.NewSet(keys...))
	c.generation.Add(1)
}

func newCache(t testing.TB, source token.KeySource, providers ...token.Provider) *token.Cache {
	t.Helper()
	provider := secretProvider(t)
	provider.Source = source
	return token.NewCache(newVerifier(t, append(providers, provider)...), token.CacheSize)
}

// verify expects a reason, 0 for none, and whether the token was remembered.
func verify(t *testing.T, cache *token.Cache, raw, provider string, want token.Reason, wantHit bool) {
	t.Helper()
	principal, hit, err := cache.Verify(context.Background(), raw, provider)
	var refusal *token.Error
	if errors.As(err, &refusal); (refusal == nil) != (want == 0) || refusal != nil && refusal.Reason != want || (principal == nil) != (err != nil) {
		t.Errorf("principal %v, error %v, want %v", principal, err, want)
	}
	if hit != wantHit {
		t.Errorf("remembered: %t, want %t", hit, wantHit)
	}
}

func TestATokenIsVerifiedOnce(t *testing.T) {
	source := newCounting(verification(t, "", secretKey()))
	cache := newCache(t, source)
	raw := signedHS256(t, goodClaims)
	verify(t, cache, raw, "", 0, false)
	for range 10 {
		verify(t, cache, raw, "", 0, true)
	}
	if n := source.asked.Load(); n != 1 {
		t.Errorf("verified %d times", n)
	}
}

func TestAHundredEqualTokensAtOnceAreVerifiedOnce(t *testing.T) {
	source := newCounting(verification(t, "", secretKey()))
	cache := newCache(t, source)
	raw := signedHS256(t, goodClaims)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, _, err := cache.Verify(context.Background(), raw, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := source.asked.Load(); n != 1 {
		t.Errorf("verified %d times", n)
	}
}

func TestWhatOneRouteAcceptedAnotherDoesnt(t *testing.T) {
	other := secretProvider(t)
	other.Name, other.Issuer = "other", "https://other"
	cache := newCache(t, newCounting(verification(t, "", secretKey())), other)
	raw := signedHS256(t, goodClaims)
	verify(t, cache, raw, "identity", 0, false)
	verify(t, cache, raw, "other", token.Invalid, false)
	verify(t, cache, raw, "other", token.Invalid, false)
	verify(t, cache, raw, "identity", 0, true)
}

func TestARememberedTokenEndsAtItsExp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := secretProvider(t)
		provider.Leeway = 30 * time.Second
		cache := token.NewCache(newVerifier(t, provider), token.CacheSize)
		raw := signedHS256(t, fmt.Sprintf(`{"iss":%q,"exp":%d}`, issuer, time.Now().Add(time.Minute).Unix()))
		verify(t, cache, raw, "", 0, false)
		time.Sleep(90*time.Second - 1)
		verify(t, cache, raw, "", 0, true)
		time.Sleep(1)
		verify(t, cache, raw, "", token.Expired, false)
	})
}

func TestARememberedTokenEndsWithItsKey(t *testing.T) {
	key := verification(t, "", secretKey())
	source := newCounting(key)
	cache := newCache(t, source)
	raw := signedHS256(t, goodClaims)
	verify(t, cache, raw, "", 0, false)
	source.replace(key)
	verify(t, cache, raw, "", 0, false) // its key is still there, which has to be seen
	verify(t, cache, raw, "", 0, true)
	source.replace(verification(t, "", []byte(strings.Repeat("another secret, ", 4))))
	verify(t, cache, raw, "", token.Invalid, false)
}

func TestARefusalIsNotRemembered(t *testing.T) {
	source := newCounting()
	cache := newCache(t, source)
	raw := signedHS256(t, goodClaims)
	verify(t, cache, raw, "", token.Invalid, false)
	source.set.Store(keyset.NewSet(verification(t, "", secretKey()))) // the key has come
	verify(t, cache, raw, "", 0, false)
	verify(t, cache, raw[:len(raw)-1], "", token.Malformed, false)
}

func TestWhoGivesUpSpoilsItForNobody(t *testing.T) {
	cache := newCache(t, newCounting(verification(t, "", secretKey())))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := cache.Verify(ctx, signedHS256(t, goodClaims), ""); err != nil {
		t.Error(err)
	}
}

// An attack with distinct valid tokens, far more than the cache can hold, mustn't take more memory than it was given.
func TestMemoryIsBounded(t *testing.T) {
	const size = 4 << 20
	cache := token.NewCache(newVerifier(t, secretProvider(t)), size)
	before := heap()
	padding := strings.Repeat(`"some claim of a token",`, 25)
	for n := range 5_000 { // about 20 MB if all were kept
		raw := signedHS256(t, fmt.Sprintf(`{"iss":%q,"exp":4102444800,"jti":"%d","groups":[%s""]}`, issuer, n, padding))
		if _, _, err := cache.Verify(context.Background(), raw, ""); err != nil {
			t.Fatal(err)
		}
	}
	grown := int64(heap()) - int64(before)
	t.Logf("grown by %d KiB of %d KiB", grown>>10, int64(size)>>10)
	if grown > size {
		t.Errorf("grown by %d bytes, more than %d", grown, int64(size))
	}
	runtime.KeepAlive(cache)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkCachedVerify measures a token of about 1 KB that is remembered; the algorithm makes no difference then.
func BenchmarkCachedVerify(b *testing.B) {
	raw, verifier := benchmarkToken(b, "RS256")
	cache := token.NewCache(verifier, token.CacheSize)
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, _, err := cache.Verify(context.Background(), raw, ""); err != nil {
			b.Fatal(err)
		}
	}
}

package token_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// patient is a source whose keys are known only where they are asked for.
type patient struct{ *counting }

func (patient) Known(string, string) ([]keyset.Key, error) { return nil, nil }

func TestALookIsNotRemembered(t *testing.T) {
	source := newCounting(verification(t, "1", secretKey()))
	cache := newCache(t, source)
	raw := signedHS256(t, goodClaims)
	for range 2 {
		if p, err := cache.Look(raw, ""); err != nil || p.Issuer != issuer {
			t.Fatalf("Look is %v, %v", p, err)
		}
	}
	if _, hit, err := cache.Verify(context.Background(), raw, ""); hit || err != nil {
		t.Errorf("after a look the token is remembered: %t, %v", hit, err)
	}
	asked := source.asked.Load()
	if p, err := cache.Look(raw, ""); err != nil || p.Issuer != issuer || source.asked.Load() != asked {
		t.Errorf("a look at a remembered token is %v, %v", p, err)
	}
}

func TestALookHasNoKeysFetched(t *testing.T) {
	source := newCounting(verification(t, "1", secretKey()))
	cache := newCache(t, patient{source})
	_, err := cache.Look(signedHS256(t, goodClaims), "")
	if refused := new(token.Error); !errors.As(err, &refused) || refused.Reason != token.Invalid || source.asked.Load() != 0 {
		t.Errorf("Look is %v, and asked %d times", err, source.asked.Load())
	}
}

func TestAssumedClaims(t *testing.T) {
	provider := secretProvider(t)
	provider.Audiences = []string{"gateway"}
	second := secretProvider(t)
	second.Name, second.Issuer, second.MaxLifetime = "second", "https://second.test", time.Minute
	cache := token.NewCache(newVerifier(t, provider, second), token.CacheSize)
	for _, test := range []struct {
		name     string
		claims   map[string]any
		provider string
		want     token.Reason // 0: accepted
		by       string
	}{
		{"no claims are those of a good token of the first provider", map[string]any{}, "", 0, provider.Name},
		{"an issuer chooses its provider", map[string]any{"iss": "https://second.test"}, "", 0, "second"},
		{"a pinned provider is meant", map[string]any{"sub": "ada"}, "second", 0, "second"},
		{"an unknown issuer is refused", map[string]any{"iss": "https://elsewhere.test"}, "", token.Invalid, ""},
		{"another's issuer is refused where one is pinned", map[string]any{"iss": "https://second.test"}, provider.Name, token.Invalid, provider.Name},
		{"an exp that is past", map[string]any{"exp": 1}, "", token.Expired, provider.Name},
		{"a lifetime that is too long", map[string]any{"exp": time.Now().Add(time.Hour).Unix()}, "second", token.Invalid, "second"},
		{"a sub that is a number", map[string]any{"sub": 1}, "", token.Invalid, provider.Name},
		{"another audience", map[string]any{"aud": "elsewhere"}, "", token.Invalid, provider.Name},
		{"a claim that isn't JSON", map[string]any{"sub": func() {}}, "", token.Malformed, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := cache.Assume(test.claims, test.provider)
			refused := new(token.Error)
			if errors.As(err, &refused); refused.Reason != test.want || (err == nil) != (test.want == 0) {
				t.Fatalf("got %v, %v", p, err)
			}
			if by := refused.Provider; err != nil && by != test.by || err == nil && p.Provider != test.by {
				t.Errorf("it is by %q, %v", by, p)
			}
			if err == nil && test.claims["sub"] == "ada" && p.Subject != "ada" {
				t.Errorf("it is %+v", p)
			}
		})
	}
}

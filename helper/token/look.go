package token

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
)

// Look is like Verify, but nothing is remembered and no key is fetched.
func (c *Cache) Look(raw, providerName string) (*identity.Principal, error) {
	if found, ok := c.look(cacheKey{providerName, raw}); ok {
		return found.principal, nil
	}
	verified, err := c.verifier.verify(raw, providerName, known)
	if err != nil {
		return nil, err
	}
	return verified.principal, nil
}

// known is the lookup that finds the keys that are there.
func known(p *provider, kid, algorithm string) ([]keyset.Key, error) {
	if source, ok := p.Source.(interface {
		Known(kid, algorithm string) ([]keyset.Key, error)
	}); ok {
		return source.Known(kid, algorithm)
	}
	return asking(context.Background())(p, kid, algorithm)
}

// Assume returns who a token with these claims would be from, if its signature was right. iss, aud, iat and exp are those of
// a good token where claims doesn't have them. providerName is as for Verify; without it and without iss, the first provider
// by name is meant. Its error is that of Verify.
func (c *Cache) Assume(claims map[string]any, providerName string) (*identity.Principal, error) {
	claims, err := decoded(claims)
	if err != nil {
		return nil, refuse(Malformed, "%s", err)
	}
	v := c.verifier
	if _, given := claims["iss"]; !given {
		if p := v.byName[firstOf(providerName, v.byName)]; p != nil {
			claims["iss"] = p.Issuer
		}
	}
	p, err := v.choose(claims, providerName)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for name, value := range map[string]int64{"iat": now.Unix(), "exp": now.Add(p.assumedLifetime()).Unix()} {
		if _, given := claims[name]; !given {
			claims[name] = json.Number(fmt.Sprint(value))
		}
	}
	if _, given := claims["aud"]; !given && len(p.Audiences) > 0 {
		claims["aud"] = p.Audiences[0]
	}
	expires, err := p.checkClaims(claims, now)
	if err != nil {
		return nil, err
	}
	return p.principal(claims, expires), nil
}

// firstOf is the name, or the first of all.
func firstOf(name string, providers map[string]*provider) string {
	if name == "" && len(providers) > 0 {
		return slices.Sorted(maps.Keys(providers))[0]
	}
	return name
}

// assumedLifetime is one that the provider accepts.
func (p *provider) assumedLifetime() time.Duration {
	if p.MaxLifetime > 0 {
		return min(p.MaxLifetime, time.Hour)
	}
	return time.Hour
}

// decoded are claims as the JSON of a token makes them.
func decoded(claims map[string]any) (map[string]any, error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return nil, fmt.Errorf("the claims aren't JSON: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	same := make(map[string]any)
	if err := decoder.Decode(&same); err != nil {
		return nil, fmt.Errorf("the claims aren't JSON: %w", err)
	}
	return same, nil
}

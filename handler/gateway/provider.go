package gateway

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// buildVerifier makes the verifier of all providers.
func (b *builder) buildVerifier() (*token.Verifier, error) {
	var providers []token.Provider
	for _, name := range slices.Sorted(maps.Keys(b.cfg.Auth.Providers)) {
		p := b.cfg.Auth.Providers[name]
		keys, err := keySource(string(p.Secret), p.PublicKeyFile)
		if err != nil {
			return nil, fmt.Errorf("auth.providers.%s: %w", name, err)
		}
		keep(b, b.deps.Observer.Provider(name))
		providers = append(providers, token.Provider{
			Name: name, Issuer: p.Issuer, AllowAnyIssuer: p.AllowAnyIssuer, Audiences: p.Audiences, Algorithms: p.Algorithms,
			Leeway: time.Duration(p.Leeway), MaxLifetime: time.Duration(p.MaxLifetime), ScopeClaim: p.ScopeClaim, Headers: p.Headers,
			ForwardToken: p.ForwardToken, Source: keys,
		})
	}
	verifier, err := token.NewVerifier(providers)
	if err != nil {
		return nil, fmt.Errorf("auth.providers: %w", err)
	}
	return verifier, nil
}

// keySource makes the keys of a provider from its shared secret or its PEM file.
func keySource(secret, publicKeyFile string) (*keyset.Set, error) {
	if secret != "" {
		key, err := keyset.NewSecret("", "", []byte(secret))
		if err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		return keyset.NewSet(key), nil
	}
	keys, err := keyset.LoadPEM(publicKeyFile)
	if err != nil {
		return nil, fmt.Errorf("public_key_file: %w", err)
	}
	return keyset.NewSet(keys...), nil
}

package token

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"gatehouse/helper/keyset"
)

// KeySource gives the keys that may have signed a token: at most a few, each fit for algorithm. An unknown kid is an
// empty answer. Any error means that the token can't be judged now.
//
// A source whose keys can leave also has Generation() uint64, which changes when one did: a [Cache] then verifies anew.
type KeySource interface {
	Keys(ctx context.Context, kid, algorithm string) ([]keyset.Key, error)
}

// Provider is an issuer of tokens and what is asked of them.
type Provider struct {
	Name           string
	Issuer         string            // the exact iss; required unless AllowAnyIssuer
	AllowAnyIssuer bool              // iss isn't looked at; Issuer must be empty then
	Audiences      []string          // one of them must be in aud; empty: aud isn't checked
	Algorithms     []string          // all that are accepted; at least one
	Leeway         time.Duration     // clock difference allowed for exp, nbf and iat
	MaxLifetime    time.Duration     // the longest exp - iat, and iat is required then; 0: any
	ScopeClaim     string            // path of the claim with the scopes; "": scope
	PlanClaim      string            // path of the claim that names the caller's plan; "": none does
	Headers        map[string]string // header for the upstream → path of the claim that fills it
	ForwardToken   bool              // the upstream gets the token itself too
	Source         KeySource         // whose keys prove a token
}

// provider is a Provider made ready.
type provider struct {
	Provider
	methods    map[string]jwt.SigningMethod
	headers    []headerClaim // sorted by name
	generation func() uint64 // of the source
}

type headerClaim struct{ name, claim string }

func newProvider(options Provider) (*provider, error) {
	switch {
	case options.Name == "":
		return nil, errors.New("a provider has no name")
	case options.AllowAnyIssuer != (options.Issuer == ""):
		return nil, fmt.Errorf("provider %s: either an issuer or allow any issuer", options.Name)
	case len(options.Algorithms) == 0:
		return nil, fmt.Errorf("provider %s: no algorithms", options.Name)
	case options.Source == nil:
		return nil, fmt.Errorf("provider %s: no source of keys", options.Name)
	case options.Leeway < 0 || options.MaxLifetime < 0:
		return nil, fmt.Errorf("provider %s: leeway and max lifetime can't be negative", options.Name)
	}
	if options.ScopeClaim == "" {
		options.ScopeClaim = "scope"
	}
	p := &provider{Provider: options, methods: make(map[string]jwt.SigningMethod)}
	for _, algorithm := range options.Algorithms {
		method := signingMethod(algorithm)
		if method == nil {
			return nil, fmt.Errorf("provider %s: unknown algorithm %q", options.Name, algorithm)
		}
		p.methods[algorithm] = method
	}
	p.generation = func() uint64 { return 0 }
	if source, ok := options.Source.(interface{ Generation() uint64 }); ok {
		p.generation = source.Generation
	}
	for _, name := range slices.Sorted(maps.Keys(options.Headers)) {
		p.headers = append(p.headers, headerClaim{name, options.Headers[name]})
	}
	return p, nil
}

// signingMethod is the only place where an algorithm's name becomes code; nil for a name that isn't known.
func signingMethod(algorithm string) jwt.SigningMethod {
	switch algorithm {
	case "RS256":
		return jwt.SigningMethodRS256
	case "RS384":
		return jwt.SigningMethodRS384
	case "RS512":
		return jwt.SigningMethodRS512
	case "PS256":
		return jwt.SigningMethodPS256
	case "PS384":
		return jwt.SigningMethodPS384
	case "PS512":
		return jwt.SigningMethodPS512
	case "ES256":
		return jwt.SigningMethodES256
	case "ES384":
		return jwt.SigningMethodES384
	case "ES512":
		return jwt.SigningMethodES512
	case "EdDSA":
		return jwt.SigningMethodEdDSA
	case "HS256":
		return jwt.SigningMethodHS256
	case "HS384":
		return jwt.SigningMethodHS384
	case "HS512":
		return jwt.SigningMethodHS512
	}
	return nil
}

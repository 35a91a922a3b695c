package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gatehouse/helper/config"
)

// issuer is what a minted token takes from a provider, or from the flags in its place.
type issuer struct {
	Issuer     string
	Audiences  []string
	Algorithms []string // in the order of the config; empty: the key decides
	ScopeClaim string
	Secret     string
}

// fromConfig finds the provider in a config, and lets the flags have their say.
func (f tokenFlags) fromConfig(cfg *config.Config, file string) (issuer, error) {
	names := slices.Sorted(maps.Keys(cfg.Auth.Providers))
	name := f.provider
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	provider, ok := cfg.Auth.Providers[name]
	switch {
	case len(names) == 0:
		return issuer{}, fmt.Errorf("%s: there is no provider: a token needs --key or --secret", file)
	case name == "":
		return issuer{}, usagef("token: %s has several providers: say --provider %s", file, strings.Join(names, " or "))
	case !ok:
		return issuer{}, usagef("token: %s has no provider %q, only %s", file, name, strings.Join(names, ", "))
	case f.key == "" && f.secret == "" && provider.Secret == "":
		return issuer{}, fmt.Errorf("%s: provider %s has no secret, only public keys: give the private key with --key, or get a token from the issuer%s",
			file, name, demoHint(provider.Issuer))
	}
	audiences := f.audiences
	if len(audiences) == 0 && len(provider.Audiences) > 0 {
		audiences = provider.Audiences[:1] // one of them is enough
	}
	return issuer{
		Issuer:     cmp.Or(f.issuer, provider.Issuer),
		Audiences:  audiences,
		Algorithms: provider.Algorithms,
		ScopeClaim: provider.ScopeClaim,
		Secret:     cmp.Or(f.secret, string(provider.Secret)),
	}, nil
}

// demoHint says how the demo's identity service issues tokens, if that is the issuer.
func demoHint(issuer string) string {
	if issuer != "http://127.0.0.1:9003" {
		return ""
	}
	return "; the demo's: curl '" + issuer + "/token?user=ada&scope=order&format=raw'"
}

// allClaims are the registered claims (RFC 7519 section 4.1), the scopes, and what --claim adds or replaces.
func (f tokenFlags) allClaims(from issuer, now time.Time) (map[string]any, error) {
	claims := map[string]any{"sub": f.subject, "iat": now.Unix(), "exp": now.Add(time.Duration(f.ttl)).Unix()}
	if f.ttl < 0 {
		claims["iat"] = now.Add(2 * time.Duration(f.ttl)).Unix() // it was valid once
	}
	if from.Issuer != "" {
		claims["iss"] = from.Issuer
	}
	switch len(from.Audiences) {
	case 0:
	case 1:
		claims["aud"] = from.Audiences[0]
	default:
		claims["aud"] = from.Audiences
	}
	if len(f.scopes) > 0 {
		claims[from.ScopeClaim] = strings.Join(f.scopes, " ") // a dotted claim may be named whole
	}
	for _, claim := range f.claims {
		name, value, ok := strings.Cut(claim, "=")
		if !ok || name == "" {
			return nil, usagef("token: --claim %q: it is NAME=VALUE", claim)
		}
		claims[name] = claimValue(value)
	}
	return claims, nil
}

// claimValue is the JSON that text is, numbers digit by digit, or else text itself.
func claimValue(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"gatehouse/helper/apikey"
	"gatehouse/helper/assertion"
	"gatehouse/helper/config"
	"gatehouse/helper/credential"
	"gatehouse/helper/identity"
	"gatehouse/helper/token"
	"gatehouse/middleware"
)

// auth is what the authentication of the routes is made of.
type auth struct {
	tokens  *token.Cache
	apiKeys *apikey.Store     // nil: there are no API keys
	minter  *assertion.Minter // nil: no assertions are made
}

// buildAuth joins the errors of all that can't be read.
func (b *builder) buildAuth() error {
	var tokensErr, apiKeysErr, minterErr error
	b.auth.tokens, tokensErr = b.tokens()
	b.auth.apiKeys, apiKeysErr = b.apiKeys()
	b.auth.minter, minterErr = b.minter()
	return errors.Join(tokensErr, apiKeysErr, minterErr, b.revocations())
}

// hasAPIKeys says whether a configuration knows callers by API keys.
func hasAPIKeys(keys config.APIKeys) bool { return keys.File != "" || len(keys.Keys) > 0 }

// identityHeaders are all headers by which any route may tell its upstream who
// calls, sorted. The usual ones are among them in any case: an upstream that
// trusts them may stand behind a gateway that doesn't set them yet.
func identityHeaders(cfg *config.Config) []string {
	names := []string{"X-User-Id", "X-User-Email", "X-User-Scopes"}
	for _, p := range cfg.Auth.Providers {
		names = slices.AppendSeq(names, maps.Keys(p.Headers))
	}
	if cfg.Auth.Assertion != nil {
		names = append(names, cfg.Auth.Assertion.Header)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// credentialHeaders are the headers that are for the gateway alone.
func credentialHeaders(cfg *config.Config) []string {
	if !hasAPIKeys(cfg.Auth.APIKeys) {
		return nil
	}
	return []string{cfg.Auth.APIKeys.Header}
}

// consumed takes out every cookie and parameter that any provider looks for
// tokens in, on all routes: a browser sends its cookies to each of them.
func consumed(cfg *config.Config) (credential.Remover, error) {
	var all []credential.Place
	for _, place := range tokenPlaces(cfg, "") {
		parsed, err := credential.ParsePlace(place.text)
		if err != nil {
			return credential.Remover{}, fmt.Errorf("auth.providers: %w", err)
		}
		all = append(all, parsed)
	}
	return credential.NewRemover(all), nil
}

// tokenPlace is an entry of token_from, and the providers that have it.
type tokenPlace struct {
	text      string
	providers []string
}

// tokenPlaces lists the places of one provider, or, for "", of all of them in
// the order of their names.
func tokenPlaces(cfg *config.Config, provider string) (places []tokenPlace) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Auth.Providers)) {
		if provider != "" && name != provider {
			continue
		}
		for _, text := range cfg.Auth.Providers[name].TokenFrom {
			i := slices.IndexFunc(places, func(p tokenPlace) bool { return p.text == text })
			if i < 0 {
				i, places = len(places), append(places, tokenPlace{text: text})
			}
			places[i].providers = append(places[i].providers, name)
		}
	}
	return places
}

// authentication compiles what a route asks of its callers; nil: nothing.
func (b *builder) authentication(r *config.Route) (*middleware.Authentication, error) {
	if r.Auth == authNone {
		return nil, nil
	}
	a := &middleware.Authentication{
		Provider: r.Provider, Revoked: b.revoked, ExpiredStatus: b.cfg.Auth.ExpiredStatus, Observer: b.deps.Observer, Log: b.deps.Log,
	}
	var err error
	if a.Scopes, err = identity.CompileRequirement(r.Scopes); err != nil {
		return nil, fmt.Errorf("scopes: %w", err)
	}
	if a.Claims, err = identity.CompileClaims(r.Claims); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	if r.Auth != authAPIKey {
		a.Tokens = b.auth.tokens
		for _, place := range tokenPlaces(b.cfg, r.Provider) {
			parsed, err := credential.ParsePlace(place.text)
			if err != nil {
				return nil, fmt.Errorf("auth.providers: %w", err)
			}
			a.Places = append(a.Places, middleware.TokenPlace{Place: parsed, Providers: place.providers})
		}
	}
	if r.Auth != authJWT {
		a.APIKeys, a.APIKeyHeader = b.auth.apiKeys, http.CanonicalHeaderKey(b.cfg.Auth.APIKeys.Header)
	}
	if b.auth.minter != nil {
		section := b.cfg.Auth.Assertion
		a.Assertion = b.auth.minter.Target(cmp.Or(section.Audience, r.Upstream), r.Name)
		a.AssertionHeader = http.CanonicalHeaderKey(section.Header)
	}
	return a, nil
}

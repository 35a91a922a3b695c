package config

import (
	"slices"
	"strings"
)

// Provider is one issuer of JSON Web Tokens (RFC 7519).
type Provider struct {
	// The tokens' iss. Required unless allow_any_issuer is true. Default: "".
	Issuer string `yaml:"issuer"`
	// Accept tokens whatever their iss. Default: false.
	AllowAnyIssuer bool `yaml:"allow_any_issuer"`
	// One of these must be in aud; empty: aud is not checked. Default: [].
	Audiences []string `yaml:"audiences"`
	// All that is accepted: RS, PS or ES with 256, 384 or 512, EdDSA, or HS256, HS384, HS512 (RFC 7518). Default: none, required.
	Algorithms []string `yaml:"algorithms"`
	// Shared secret of at least 32 bytes; the only source of keys that allows HS*. Default: "".
	Secret Secret `yaml:"secret"`
	// PEM file with one or more public keys or certificates. Default: "".
	PublicKeyFile string `yaml:"public_key_file"`
	// File with a JSON Web Key Set (RFC 7517). Default: "".
	JWKSFile string `yaml:"jwks_file"`
	// URL of a JSON Web Key Set. Default: "".
	JWKSURL string `yaml:"jwks_url"`
	// <issuer>/.well-known/openid-configuration names the URL of the key set. Default: false.
	Discovery bool `yaml:"discovery"`
	// How often the key set is fetched, at least 1s; the last good set outlives a failing issuer. Default: 15m.
	Refresh Duration `yaml:"refresh"`
	// An unknown kid causes at most one fetch in this long, at least 1s. Default: 30s.
	UnknownKidCooldown Duration `yaml:"unknown_kid_cooldown"`
	// Tolerance for exp, nbf and iat. Default: 30s.
	Leeway Duration `yaml:"leeway"`
	// Forward the token itself; false: the upstream gets the identity headers only. Default: true.
	ForwardToken bool `yaml:"forward_token"`
	// A token with exp - iat over this, or without iat, is refused; 0s: no such check. Default: 0s.
	MaxLifetime Duration `yaml:"max_lifetime"`
	// The claim that names one of `plans`. Default: "".
	PlanClaim string `yaml:"plan_claim"`
	// The claim with the scopes: a string split at spaces and commas, or an array; dots reach into objects. Default: scope.
	ScopeClaim string `yaml:"scope_claim"`
	// Headers for the upstream, each with the claim that fills it. Where this key is absent, X-User-Scopes follows scope_claim. Default:
	// {X-User-Email: email, X-User-Id: sub, X-User-Scopes: scope}.
	Headers map[string]string `yaml:"headers"`
	// Where a token may be: header (Authorization: Bearer), cookie:NAME, query:NAME; the first that is present counts. Default: [header].
	TokenFrom []string `yaml:"token_from"`
}

// algorithms is every signature algorithm that tokens may have; none is not among them (RFC 8725, section 3.1).
func algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "HS256", "HS384", "HS512"}
}

func (p *Provider) validate(at section) {
	if p.Issuer == "" && !p.AllowAnyIssuer {
		at.at("issuer").refuse("is needed: write the tokens' iss, or allow_any_issuer: true")
	}
	if p.Issuer != "" && p.AllowAnyIssuer {
		at.at("allow_any_issuer").refuse("excludes issuer: remove one of them")
	}
	at.at("audiences").texts(p.Audiences, "an audience")
	p.validateKeys(at)
	if p.Refresh < seconds(1) {
		at.at("refresh").refuse("%s is too short: write 1s or more", at.at("refresh").written())
	}
	if p.UnknownKidCooldown < seconds(1) {
		at.at("unknown_kid_cooldown").refuse("%s is too short: write 1s or more", at.at("unknown_kid_cooldown").written())
	}
	at.at("scope_claim").needed(p.ScopeClaim, "the name of the claim with the scopes, such as scope")
	for _, name := range sortedKeys(p.Headers) {
		at.at("headers").at(name).headerName(name)
		at.at("headers").at(name).needed(p.Headers[name], "the name of a claim, such as sub")
	}
	distinctHeaders(at.at("headers"), p.Headers)
	if len(p.TokenFrom) == 0 {
		at.at("token_from").refuse("is empty: write where tokens are, such as [header], or remove it")
	}
	for i, source := range p.TokenFrom {
		kind, name, _ := strings.Cut(source, ":")
		if source != "header" && (kind != "cookie" && kind != "query" || !tokenForm.MatchString(name)) {
			item := at.at("token_from").item(i)
			item.refuse("%s is not a place for a token: write header, cookie:NAME or query:NAME", item.written())
		}
	}
}

// validateKeys makes key confusion impossible: a secret never meets a public-key algorithm, nor a public key HS* (RFC 8725, section 3.1).
func (p *Provider) validateKeys(at section) {
	sources := 0
	for name, there := range map[string]bool{
		"secret": p.Secret != "", "public_key_file": p.PublicKeyFile != "", "jwks_file": p.JWKSFile != "", "jwks_url": p.JWKSURL != "", "discovery": p.Discovery,
	} {
		if there || at.refused[at.at(name).key] { // what can't be read is a source all the same
			sources++
		}
	}
	secret := p.Secret != "" || at.refused[at.at("secret").key]
	if sources != 1 {
		at.refuse("has %d sources of keys and needs one: write one of secret, public_key_file, jwks_file, jwks_url, discovery", sources)
	}
	if p.Secret != "" && len(p.Secret) < 32 {
		at.at("secret").refuse("has %d bytes and needs 32 or more: make one with `openssl rand -base64 32`", len(p.Secret))
	}
	at.at("public_key_file").file(p.PublicKeyFile)
	at.at("jwks_file").file(p.JWKSFile)
	if p.JWKSURL != "" {
		at.at("jwks_url").webURL(p.JWKSURL)
	}
	if p.Discovery {
		at.at("issuer").webURL(p.Issuer)
	}
	list := at.at("algorithms")
	if len(p.Algorithms) == 0 {
		list.refuse("is needed: write those that the issuer signs with, such as [RS256]")
	}
	for i, algorithm := range p.Algorithms {
		hmac := strings.HasPrefix(algorithm, "HS")
		switch {
		case !slices.Contains(algorithms(), algorithm):
			list.item(i).oneOf(algorithm, algorithms()...)
		case sources == 1 && hmac && !secret:
			list.item(i).refuse("%s needs a shared secret: remove it, or write secret as the source of keys", list.item(i).written())
		case sources == 1 && !hmac && secret:
			list.item(i).refuse("%s can't be checked with a shared secret: write HS256, HS384 or HS512, or another source of keys", list.item(i).written())
		}
	}
}

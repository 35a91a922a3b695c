package config

import (
	"encoding/hex"
)

// Auth is the section `auth`.
type Auth struct {
	// Status of an expired token's answer: 403, or 401 for strict RFC 6750 clients. Default: 403.
	ExpiredStatus int `yaml:"expired_status"`
	// Issuers of tokens, by name. Default: {}.
	Providers map[string]Provider `yaml:"providers"`
	// Callers that show an API key. Default: each key's own.
	APIKeys APIKeys `yaml:"api_keys"`
	// Tokens and subjects that are refused before they expire. Default: each key's own.
	Revoked Revoked `yaml:"revoked"`
	// A short-lived token of the gateway's own on every request with a verified caller. Default: absent, none.
	Assertion *Assertion `yaml:"assertion"`
}

// APIKeys is the section `auth.api_keys`.
type APIKeys struct {
	// Request header that carries the key; it never goes upstream. Default: X-API-Key.
	Header string `yaml:"header"`
	// A YAML list like `keys`; re-read when it changes. Default: "".
	File string `yaml:"file"`
	// The keys. The upstream sees the id as X-User-Id and the scopes as X-User-Scopes. Default: [].
	Keys []APIKey `yaml:"keys"`
}

// APIKey is one item of `auth.api_keys.keys`.
type APIKey struct {
	// Who it is. Default: none, required.
	ID string `yaml:"id"`
	// SHA-256 of the key, 64 hexadecimal digits. Default: none, required.
	SHA256 string `yaml:"sha256"`
	// What it may do. Default: [].
	Scopes []string `yaml:"scopes"`
	// One of `plans`. Default: "".
	Plan string `yaml:"plan"`
	// First day, in UTC, on which it isn't valid any more, such as 2027-01-01. Default: "", never.
	Expires Date `yaml:"expires"`
}

// Revoked is the section `auth.revoked`.
type Revoked struct {
	// Lines of jti:…, sub:… or kid:…; re-read when it changes. Default: "".
	File string `yaml:"file"`
}

// Assertion is the section `auth.assertion`.
type Assertion struct {
	// A new token for each request, with request_id, instead of one reused for half its life. Default: false.
	PerRequest bool `yaml:"per_request"`
	// Request header that carries it upstream. Default: X-Gateway-Assertion.
	Header string `yaml:"header"`
	// Ed25519 private key, PKCS#8 PEM. Default: "", one is made at start.
	KeyFile string `yaml:"key_file"`
	// How long one is valid. Default: 30s.
	TTL Duration `yaml:"ttl"`
	// Its aud. Default: "", the upstream's name.
	Audience string `yaml:"audience"`
}

func (a *Auth) validate(at section, plans map[string]Plan) {
	if a.ExpiredStatus != 401 && a.ExpiredStatus != 403 {
		at.at("expired_status").refuse("%s is neither 401 nor 403: write one of them", at.at("expired_status").written())
	}
	for _, name := range sortedKeys(a.Providers) {
		provider := a.Providers[name]
		at.at("providers").at(name).name(name)
		provider.validate(at.at("providers").at(name))
	}
	keys := at.at("api_keys")
	keys.at("header").headerName(a.APIKeys.Header)
	for i, key := range a.APIKeys.Keys {
		key.validate(keys.at("keys").item(i), plans)
	}
	if a.Assertion != nil {
		at.at("assertion").at("header").headerName(a.Assertion.Header)
		at.at("assertion").at("ttl").positive(a.Assertion.TTL)
	}
}

func (k *APIKey) validate(at section, plans map[string]Plan) {
	at.at("id").needed(k.ID, "who the key belongs to")
	if digest, err := hex.DecodeString(k.SHA256); err != nil || len(digest) != 32 {
		at.at("sha256").refuse("is not a SHA-256: write the 64 hexadecimal digits that `gatehouse keys api` prints")
	}
	at.at("scopes").texts(k.Scopes, "a scope")
	if k.Plan != "" {
		at.at("plan").refersTo(k.Plan, "plans", sortedKeys(plans))
	}
}

package config

import (
	"encoding/hex"
	"strings"
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
	// How long one is valid, at least 5s. Default: 30s.
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
	refuseSameIssuers(a.Providers, at.at("providers"))
	at.at("api_keys").at("header").headerName(a.APIKeys.Header)
	at.at("api_keys").at("file").file(a.APIKeys.File)
	at.at("revoked").at("file").file(a.Revoked.File)
	validateAPIKeys(a.APIKeys.Keys, at.at("api_keys").at("keys"), plans)
	if a.Assertion != nil {
		a.Assertion.validate(at.at("assertion"))
		a.refuseSameHeaders(at)
	}
}

// refuseSameIssuers keeps apart what a token is judged by: its iss says whose it is, and one provider takes what is left.
func refuseSameIssuers(providers map[string]Provider, at section) {
	issuers, open := map[string]string{}, ""
	for _, name := range sortedKeys(providers) {
		switch p := providers[name]; {
		case p.AllowAnyIssuer && open != "":
			at.at(name).at("allow_any_issuer").refuse("is true for %s already, and a token with any iss can't be for both: write this one's issuer", open)
		case p.AllowAnyIssuer:
			open = name
		case p.Issuer != "" && issuers[p.Issuer] != "":
			at.at(name).at("issuer").refuse("is that of %s already, and a token's iss has to choose one: write another, or put the keys of both into one provider", issuers[p.Issuer])
		default:
			issuers[p.Issuer] = name
		}
	}
}

// refuseSameHeaders keeps the assertion's header for the assertion: the last one to set it would win.
func (a *Auth) refuseSameHeaders(at section) {
	own := at.at("assertion").at("header")
	if sameHeader(a.Assertion.Header, a.APIKeys.Header) {
		own.refuse("%s is api_keys.header too: write another", own.written())
	}
	for _, name := range sortedKeys(a.Providers) {
		for header := range a.Providers[name].Headers {
			if sameHeader(a.Assertion.Header, header) {
				own.refuse("%s is a header of provider %s too: write another", own.written(), name)
			}
		}
	}
}

// leastTTL leaves time for the way to the upstream: exp counts whole seconds.
const leastTTL = 5

func (a *Assertion) validate(at section) {
	at.at("header").headerName(a.Header)
	at.at("key_file").file(a.KeyFile)
	if a.TTL < seconds(leastTTL) {
		at.at("ttl").refuse("%s is too short: write %ds or more", at.at("ttl").written(), leastTTL)
	}
}

// validateAPIKeys checks each key, and that no two have the same id or hash: which of them counted would be a guess.
func validateAPIKeys(keys []APIKey, at section, plans map[string]Plan) {
	ids, hashes := map[string]int{}, map[string]int{}
	for i, key := range keys {
		key.validate(at.item(i), plans)
		if other, ok := ids[key.ID]; ok {
			at.item(i).at("id").refuse("is the same as that of key %d of the list: write another", other+1)
		}
		if other, ok := hashes[strings.ToLower(key.SHA256)]; ok {
			at.item(i).at("sha256").refuse("is the same as that of key %d of the list: make a key of its own with gatehouse keys api", other+1)
		}
		ids[key.ID], hashes[strings.ToLower(key.SHA256)] = i, i
	}
}

func (k *APIKey) validate(at section, plans map[string]Plan) {
	at.at("id").needed(k.ID, "who the key belongs to")
	if digest, err := hex.DecodeString(k.SHA256); err != nil || len(digest) != 32 {
		at.at("sha256").refuse("is not a SHA-256: write the 64 hexadecimal digits that `gatehouse keys api` prints")
	}
	at.at("scopes").texts(k.Scopes, "a scope")
	if k.Plan != "" {
		refersTo(at.at("plan"), k.Plan, "plans", plans)
	}
}

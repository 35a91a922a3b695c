package config

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
	// Headers for the upstream, each with the claim that fills it. Default: {X-User-Email: email, X-User-Id: sub, X-User-Scopes: scope}.
	Headers map[string]string `yaml:"headers"`
	// Where a token may be: header (Authorization: Bearer), cookie:NAME, query:NAME; the first that is present counts. Default: [header].
	TokenFrom []string `yaml:"token_from"`
}

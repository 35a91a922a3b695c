package identity

import "time"

// Principal is a verified caller. It is shared by all requests with the same credential: nobody changes it, its
// claims or its headers after it was made.
type Principal struct {
	Provider string         // the configured provider that vouches for the caller
	Issuer   string         // the token's iss; a subject means nothing without it
	Subject  string         // the token's sub
	Client   string         // an API key's id; "" for a token
	TokenID  string         // the token's jti; "" for none
	KeyID    string         // the ID of the key that signed the token, or the token's kid where the key has none
	Scopes   Scopes         // what the caller may do
	Plan     string         // the plan that the credential names; "" for none
	Claims   map[string]any // the token's claims as decoded from JSON, numbers as json.Number
	Expires  time.Time      // when the credential ends, leeway not included; zero: never
	Headers  []Header       // what the upstream is told, sorted by name

	// ForwardToken says that the upstream may see the token itself.
	ForwardToken bool
}

// Header is one header for the upstream, its value already fit for the wire.
type Header struct {
	Name, Value string
}

package middleware

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/apikey"
	"gatehouse/helper/exchange"
	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
	"gatehouse/helper/problem"
	"gatehouse/helper/token"
)

const (
	noProvider = exchange.None
	notCached  = "none"
	keysRetry  = 5 * time.Second // where the source of the keys doesn't know better

	bearer       = `Bearer realm="gatehouse"`
	apiKey       = `APIKey realm="gatehouse"` // there is no standard scheme for API keys, but a 401 needs one
	bearerFailed = bearer + `, error="invalid_token"`
)

// verify asks who a token is from.
func (a *Authentication) verify(ex *exchange.Exchange, r *http.Request, raw string, place *TokenPlace) (caller, *problem.Problem) {
	principal, hit, err := a.tokenCaller(ex, r, raw)
	if err != nil {
		return caller{}, a.refuse(ex, err)
	}
	cache := "miss"
	if hit {
		cache = "hit"
	}
	if !slices.Contains(place.Providers, principal.Provider) {
		a.Observer.Auth(principal.Provider, "invalid", cache)
		a.debug(ex, principal.Provider, "token_from doesn't name where it was")
		return caller{}, invalidToken()
	}
	return caller{principal, cache}, nil
}

// tokenCaller verifies a token. A request that is only asked about leaves nothing to be remembered.
func (a *Authentication) tokenCaller(ex *exchange.Exchange, r *http.Request, raw string) (principal *identity.Principal, hit bool, err error) {
	if ex.Explain == nil {
		return a.Tokens.Verify(r.Context(), raw, a.Provider)
	}
	principal, err = a.Tokens.Look(raw, a.Provider)
	return principal, false, err
}

// lookUp asks who an API key belongs to.
func (a *Authentication) lookUp(ex *exchange.Exchange, key string) (caller, *problem.Problem) {
	principal, err := a.APIKeys.Caller(key, time.Now())
	return a.known(ex, principal, err)
}

// known is what the store of API keys says about a caller.
func (a *Authentication) known(ex *exchange.Exchange, principal *identity.Principal, err error) (caller, *problem.Problem) {
	if err == nil {
		return caller{principal, notCached}, nil
	}
	result, why := "invalid", err.Error()
	if errors.Is(err, apikey.ErrExpired) {
		result, why = "expired", why+": "+principal.Client
	}
	a.Observer.Auth(apikey.Provider, result, notCached)
	a.debug(ex, apikey.Provider, why)
	return caller{}, a.invalidAPIKey("The API key isn't known, or has expired.")
}

// refuse turns an error of the verifier into the answer. Why exactly stands in
// the log at debug level only.
func (a *Authentication) refuse(ex *exchange.Exchange, err error) *problem.Problem {
	var refused *token.Error
	provider, reason := noProvider, token.Invalid
	if errors.As(err, &refused) {
		reason = refused.Reason
		if refused.Provider != "" {
			provider = refused.Provider
		}
	}
	a.debug(ex, provider, err.Error())
	switch reason {
	case token.Expired:
		a.Observer.Auth(provider, "expired", notCached)
		return &problem.Problem{
			Code: problem.TokenExpired, Status: a.ExpiredStatus, Detail: "The token has expired; get a new one from the identity service.",
			Authenticate: bearerFailed + `, error_description="the token has expired"`,
		}
	case token.KeysUnavailable:
		a.Observer.Auth(provider, "keys_unavailable", notCached)
		retry := keysRetry
		if unavailable := new(keyset.UnavailableError); errors.As(err, &unavailable) {
			retry = unavailable.RetryAfter
		}
		return &problem.Problem{Code: problem.KeysUnavailable, Detail: "The token can't be judged at the moment; try again later.", RetryAfter: retry}
	default:
		a.Observer.Auth(provider, "invalid", notCached)
		return invalidToken()
	}
}

func invalidToken() *problem.Problem {
	return &problem.Problem{Code: problem.TokenInvalid, Detail: "The token can't be accepted; get a new one from the identity service.", Authenticate: bearerFailed}
}

func (a *Authentication) invalidAPIKey(detail string) *problem.Problem {
	return &problem.Problem{Code: problem.APIKeyInvalid, Detail: detail, Authenticate: apiKey}
}

// missing says what would do. RFC 6750, section 3.1: without an error, since
// nothing was wrong.
func (a *Authentication) missing() *problem.Problem {
	p := &problem.Problem{Code: problem.CredentialsMissing}
	key := "Send an API key: " + a.APIKeyHeader + ": KEY."
	switch {
	case a.APIKeys == nil:
		p.Detail, p.Authenticate = "Send a token: Authorization: Bearer TOKEN.", bearer
	case a.Tokens == nil:
		p.Detail, p.Authenticate = key, apiKey
	default:
		p.Detail, p.Authenticate = "Send a token: Authorization: Bearer TOKEN. Or: "+key, bearer+", "+apiKey
	}
	return p
}

func (a *Authentication) revoked(c caller) *problem.Problem {
	if c.Client != "" {
		return a.invalidAPIKey("The API key was revoked.")
	}
	return &problem.Problem{Code: problem.TokenRevoked, Detail: "The token was revoked; get a new one from the identity service.", Authenticate: bearerFailed}
}

// scopeMissing names the scopes that would do, which a client can ask its issuer for (RFC 6750, section 3.1).
func (a *Authentication) scopeMissing(c caller) *problem.Problem {
	scopes, scheme, what := a.Scopes.String(), bearer, "token"
	if c.Client != "" {
		scheme, what = apiKey, "API key"
	}
	return &problem.Problem{
		Code: problem.ScopeMissing, Detail: "The " + what + " lacks a scope: " + scopes + ".",
		Authenticate: scheme + `, error="insufficient_scope", scope="` + scopes + `"`,
	}
}

func (a *Authentication) debug(ex *exchange.Exchange, provider, why string) {
	if ex.Explain != nil {
		ex.Explain.NoteRefusedCaller(provider, why)
	}
	a.Log.Debug("authentication refused", zap.String("trace_id", ex.TraceID), zap.String("route", ex.Route),
		zap.String("provider", provider), zap.String("why", why))
}

package middleware

import (
	"net/http"
	"strings"

	"go.uber.org/zap"

	"gatehouse/helper/apikey"
	"gatehouse/helper/assertion"
	"gatehouse/helper/credential"
	"gatehouse/helper/exchange"
	"gatehouse/helper/explain"
	"gatehouse/helper/identity"
	"gatehouse/helper/problem"
	"gatehouse/helper/revocation"
	"gatehouse/helper/token"
)

// AuthObserver counts authentication decisions; result and cache are from the
// fixed lists of the documentation.
type AuthObserver interface {
	Auth(provider, result, cache string)
}

// Authentication is what one route asks of its callers.
type Authentication struct {
	Tokens   *token.Cache // nil: a token is nothing here
	Provider string       // the only one that counts; "": the token's iss chooses
	Places   []TokenPlace // where tokens are looked for; the first that has one counts

	APIKeys      *apikey.Store // nil: an API key is nothing here
	APIKeyHeader string        // canonical

	Revoked       *revocation.List
	Scopes        identity.Requirement
	Claims        identity.ClaimRequirement
	ExpiredStatus int

	Assertion       *assertion.Target // nil: none is made
	AssertionHeader string            // canonical

	Observer AuthObserver
	Log      *zap.Logger
}

// TokenPlace is a place for the tokens of some providers. Those of others are
// refused there: a cookie is sent by whatever page a browser shows, and a
// provider that doesn't say so wasn't meant for that.
type TokenPlace struct {
	credential.Place
	Providers []string
}

// caller is who a request is from, and whether the token was remembered.
type caller struct {
	*identity.Principal
	cache string
}

// stage verifies the caller, checks revocations, scopes and claims, and queues
// the identity headers. It is nil for an open route.
func (a *Authentication) stage() Stage {
	if a == nil {
		return nil
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a.admits(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// admits says whether a request may pass; it answers one that may not.
func (a *Authentication) admits(w http.ResponseWriter, r *http.Request) bool {
	ex := exchange.From(r.Context())
	c, refusal := a.identify(ex, r)
	if refusal == nil {
		ex.Principal = c.Principal
		refusal = a.authorize(ex, c)
	}
	if refusal == nil {
		refusal = a.introduce(ex, c)
	}
	if refusal != nil {
		ex.Refuse(w, *refusal)
	}
	return refusal == nil
}

// identify finds out who the request is from. Where both a token and an API key
// are accepted and there, the token decides.
func (a *Authentication) identify(ex *exchange.Exchange, r *http.Request) (caller, *problem.Problem) {
	if ex.Explain != nil && ex.Explain.Assumed.Given() {
		return a.assume(ex)
	}
	if a.Tokens != nil {
		raw, place, state := a.find(r)
		switch state {
		case credential.Found:
			return a.verify(ex, r, raw, place)
		case credential.Malformed:
			a.Observer.Auth(noProvider, "invalid", notCached)
			return caller{}, invalidToken()
		case credential.Ambiguous:
			a.Observer.Auth(noProvider, "invalid", notCached)
			return caller{}, badRequest("There is more than one token where one is expected.")
		}
	}
	if a.APIKeys != nil {
		switch keys := r.Header[a.APIKeyHeader]; len(keys) {
		case 0:
		case 1:
			return a.lookUp(ex, keys[0])
		default:
			a.Observer.Auth(apikey.Provider, "invalid", notCached)
			return caller{}, badRequest("There is more than one " + a.APIKeyHeader + " header.")
		}
	}
	a.Observer.Auth(noProvider, "missing", notCached)
	return caller{}, a.missing()
}

// find looks for a token in each place, also behind the one that has it: what
// is there twice is refused wherever it is.
func (a *Authentication) find(r *http.Request) (raw string, place *TokenPlace, state credential.State) {
	for i := range a.Places {
		here, found := a.Places[i].Find(r)
		if found == credential.Ambiguous {
			return "", nil, found
		}
		if state == credential.Missing {
			raw, place, state = here, &a.Places[i], found
		}
	}
	return raw, place, state
}

// authorize asks whether a caller who is known may do this.
func (a *Authentication) authorize(ex *exchange.Exchange, c caller) *problem.Problem {
	if entry, revoked := a.Revoked.Match(c.Principal); revoked {
		a.Observer.Auth(c.Provider, "revoked", c.cache)
		a.debug(ex, c.Provider, "it was revoked by "+entry.String())
		return a.revoked(c)
	}
	if !a.Scopes.Satisfied(c.Scopes) {
		a.Observer.Auth(c.Provider, "scope", c.cache)
		a.debug(ex, c.Provider, "missing scopes: "+strings.Join(a.Scopes.Missing(c.Scopes), " "))
		return a.scopeMissing(c)
	}
	if claim := a.Claims.Mismatch(c.Claims); claim != "" {
		a.Observer.Auth(c.Provider, "claim", c.cache)
		a.debug(ex, c.Provider, "claim doesn't match: "+claim)
		return &problem.Problem{Code: problem.ClaimMismatch, Detail: "A claim of the token doesn't fit this route."}
	}
	a.Observer.Auth(c.Provider, "ok", c.cache)
	return nil
}

// introduce queues what the upstream is told of the caller.
func (a *Authentication) introduce(ex *exchange.Exchange, c caller) *problem.Problem {
	for _, h := range c.Headers {
		ex.Upstreamward.Set(h.Name, h.Value)
	}
	ex.DropToken = !c.ForwardToken
	if a.Assertion == nil {
		return nil
	}
	if ex.Explain != nil {
		ex.Upstreamward.Set(a.AssertionHeader, explain.Fresh)
		return nil
	}
	text, err := a.Assertion.Assertion(c.Principal, ex.RequestID)
	if err != nil {
		a.Log.Error("signing an assertion failed", zap.String("trace_id", ex.TraceID), zap.Error(err))
		return &problem.Problem{Code: problem.InternalError, Detail: "Report the trace id to the operator of this gateway."}
	}
	ex.Upstreamward.Set(a.AssertionHeader, text)
	return nil
}

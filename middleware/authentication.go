package middleware

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/exchange"
	"gatehouse/helper/identity"
	"gatehouse/helper/problem"
	"gatehouse/helper/token"
)

// AuthObserver counts authentication decisions; result and cache are from the
// fixed lists of the documentation.
type AuthObserver interface {
	Auth(provider, result, cache string)
}

// Authentication is what one route asks of its callers.
type Authentication struct {
	Verifier      *token.Verifier
	Provider      string // the only one that counts; "": the token's iss chooses
	Scopes        identity.Requirement
	Claims        identity.ClaimRequirement
	ExpiredStatus int
	Observer      AuthObserver
	Log           *zap.Logger
}

const (
	challenge    = `Bearer realm="gatehouse"`
	noProvider   = exchange.None
	notCached    = "none"
	keysRetry    = 5 * time.Second
	invalidToken = challenge + `, error="invalid_token"`
)

// stage verifies the caller, checks scopes and claims, and queues the identity
// headers. It is nil for an open route.
func (a *Authentication) stage() Stage {
	if a == nil {
		return nil
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ex := exchange.From(r.Context())
			if refusal := a.admit(ex, r); refusal != nil {
				ex.Refuse(w, *refusal)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func (a *Authentication) admit(ex *exchange.Exchange, r *http.Request) *problem.Problem {
	raw, state := token.Bearer(r.Header)
	switch state {
	case token.BearerOK:
	case token.BearerNone:
		a.Observer.Auth(noProvider, "missing", notCached)
		return &problem.Problem{Code: problem.CredentialsMissing, Detail: "Send a token: Authorization: Bearer TOKEN.", Authenticate: challenge}
	default:
		a.Observer.Auth(noProvider, "invalid", notCached)
		return invalid()
	}
	principal, err := a.Verifier.Verify(r.Context(), raw, a.Provider)
	if err != nil {
		return a.refuse(ex, err)
	}
	ex.Principal = principal
	if !a.Scopes.Satisfied(principal.Scopes) {
		a.Observer.Auth(principal.Provider, "scope", notCached)
		a.debug(ex, principal.Provider, "missing scopes: "+strings.Join(a.Scopes.Missing(principal.Scopes), " "))
		scopes := a.Scopes.String()
		return &problem.Problem{
			Code: problem.ScopeMissing, Detail: "The token lacks a scope: " + scopes + ".",
			Authenticate: challenge + `, error="insufficient_scope", scope="` + scopes + `"`,
		}
	}
	if claim := a.Claims.Mismatch(principal.Claims); claim != "" {
		a.Observer.Auth(principal.Provider, "claim", notCached)
		a.debug(ex, principal.Provider, "claim doesn't match: "+claim)
		return &problem.Problem{Code: problem.ClaimMismatch, Detail: "A claim of the token doesn't fit this route."}
	}
	a.Observer.Auth(principal.Provider, "ok", notCached)
	for _, h := range principal.Headers {
		ex.Upstreamward.Set(h.Name, h.Value)
	}
	ex.DropToken = !principal.ForwardToken
	return nil
}

func invalid() *problem.Problem {
	return &problem.Problem{Code: problem.TokenInvalid, Detail: "The token can't be accepted; get a new one from the identity service.", Authenticate: invalidToken}
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
			Authenticate: invalidToken + `, error_description="the token has expired"`,
		}
	case token.KeysUnavailable:
		a.Observer.Auth(provider, "keys_unavailable", notCached)
		return &problem.Problem{Code: problem.KeysUnavailable, Detail: "The token can't be judged at the moment; try again later.", RetryAfter: keysRetry}
	default:
		a.Observer.Auth(provider, "invalid", notCached)
		return invalid()
	}
}

func (a *Authentication) debug(ex *exchange.Exchange, provider, why string) {
	a.Log.Debug("authentication refused", zap.String("trace_id", ex.TraceID), zap.String("route", ex.Route),
		zap.String("provider", provider), zap.String("why", why))
}

package problem

import "net/http"

// Code names why the gateway itself answered. It is stable: clients, alerts
// and logs match on it.
type Code string

// The codes of every answer that the gateway makes itself.
const (
	BadRequest          Code = "bad_request"
	CredentialsMissing  Code = "credentials_missing"
	TokenInvalid        Code = "token_invalid"
	TokenRevoked        Code = "token_revoked"
	APIKeyInvalid       Code = "api_key_invalid"
	TokenExpired        Code = "token_expired"
	ScopeMissing        Code = "scope_missing"
	ClaimMismatch       Code = "claim_mismatch"
	IPDenied            Code = "ip_denied"
	NoRoute             Code = "no_route"
	MethodNotAllowed    Code = "method_not_allowed"
	BodyTooLarge        Code = "body_too_large"
	RateLimited         Code = "rate_limited"
	QuotaExceeded       Code = "quota_exceeded"
	ClientClosed        Code = "client_closed"
	InternalError       Code = "internal_error"
	UpstreamUnreachable Code = "upstream_unreachable"
	UpstreamReset       Code = "upstream_reset"
	UpstreamBadResponse Code = "upstream_bad_response"
	BreakerOpen         Code = "breaker_open"
	NoBackend           Code = "no_backend"
	Overloaded          Code = "overloaded"
	KeysUnavailable     Code = "keys_unavailable"
	Draining            Code = "draining"
	UpstreamTimeout     Code = "upstream_timeout"
)

// StatusClientClosed is the status, in the log and the metrics only, of a
// request whose client left before the answer.
const StatusClientClosed = 499

type kind struct {
	code   Code
	status int
	title  string
}

// table lists every code once, in the order of the documentation.
func table() []kind {
	return []kind{
		{BadRequest, http.StatusBadRequest, "The request can't be forwarded safely"},
		{CredentialsMissing, http.StatusUnauthorized, "Credentials are missing"},
		{TokenInvalid, http.StatusUnauthorized, "The token isn't valid"},
		{TokenRevoked, http.StatusUnauthorized, "The token was revoked"},
		{APIKeyInvalid, http.StatusUnauthorized, "The API key isn't valid"},
		{TokenExpired, http.StatusForbidden, "The token has expired"},
		{ScopeMissing, http.StatusForbidden, "A scope is missing"},
		{ClaimMismatch, http.StatusForbidden, "A claim doesn't match"},
		{IPDenied, http.StatusForbidden, "The client's address isn't allowed"},
		{NoRoute, http.StatusNotFound, "No route matches"},
		{MethodNotAllowed, http.StatusMethodNotAllowed, "The method isn't allowed here"},
		{BodyTooLarge, http.StatusRequestEntityTooLarge, "The request body is too large"},
		{RateLimited, http.StatusTooManyRequests, "Too many requests"},
		{QuotaExceeded, http.StatusTooManyRequests, "The client's quota is used up"},
		{ClientClosed, StatusClientClosed, "The client closed the connection"},
		{InternalError, http.StatusInternalServerError, "Internal error of the gateway"},
		{UpstreamUnreachable, http.StatusBadGateway, "The upstream can't be reached"},
		{UpstreamReset, http.StatusBadGateway, "The upstream broke the connection"},
		{UpstreamBadResponse, http.StatusBadGateway, "The upstream's answer isn't valid HTTP"},
		{BreakerOpen, http.StatusServiceUnavailable, "The upstream's circuit breaker is open"},
		{NoBackend, http.StatusServiceUnavailable, "No backend is available"},
		{Overloaded, http.StatusServiceUnavailable, "The upstream has too many requests in flight"},
		{KeysUnavailable, http.StatusServiceUnavailable, "The keys to verify tokens can't be had at the moment"},
		{Draining, http.StatusServiceUnavailable, "The gateway is shutting down"},
		{UpstreamTimeout, http.StatusGatewayTimeout, "The upstream took too long"},
	}
}

// Codes returns every code, for metrics that stand at 0 from the start.
func Codes() []Code {
	kinds := table()
	codes := make([]Code, len(kinds))
	for i, k := range kinds {
		codes[i] = k.code
	}
	return codes
}

// Status is the HTTP status that the code stands for. token_expired can be
// answered with another one (auth.expired_status).
func (c Code) Status() int { return c.kind().status }

// Title is the short sentence that goes with the code.
func (c Code) Title() string { return c.kind().title }

func (c Code) kind() kind {
	for _, k := range table() {
		if k.code == c {
			return k
		}
	}
	return kind{c, http.StatusInternalServerError, "Internal error of the gateway"}
}

package explain

import "gatehouse/helper/problem"

// Remedy is what an operator can do about a refusal; "" where there is none.
func Remedy(code problem.Code) string {
	return map[problem.Code]string{
		problem.BadRequest:         "the client has to send another request; where the path is meant so, the route can say allow_unusual_path: true",
		problem.NoRoute:            "see gatehouse routes for the paths and hosts that there are, and add a route",
		problem.MethodNotAllowed:   "add the method to the methods of a candidate, or use one of those",
		problem.RateLimited:        "wait, or raise the limit that refuses",
		problem.QuotaExceeded:      "wait, or raise the quota or plan that refuses",
		problem.BreakerOpen:        "see why the upstream fails; the breaker closes after a good trial, or by POST /api/upstreams/NAME/breaker",
		problem.CredentialsMissing: "send what the route asks for, or write auth: none where the route is for everybody",
		problem.TokenInvalid:       "compare the token's iss, aud, alg and kid with the provider in the configuration",
		problem.TokenExpired:       "get a new token",
		problem.TokenRevoked:       "get a new token, or take the entry off the list of revocations",
		problem.APIKeyInvalid:      "make a key with gatehouse keys api and put its hash into auth.api_keys, or extend its date",
		problem.ScopeMissing:       "get a token with the scope, or take it off the route's scopes",
		problem.ClaimMismatch:      "get a token with the claim, or change the route's claims",
		problem.KeysUnavailable:    "see whether the provider's jwks_url or issuer can be reached from the gateway",
		problem.IPDenied:           "add the address to ip_allow or take it off ip_deny; behind a proxy, see server.trusted_proxies",
		problem.BodyTooLarge:       "send less, or raise max_body_size or the filter's limit",
		problem.Overloaded:         "raise concurrency.max, or add backends",
		problem.NoBackend:          "see why the backends can't be picked",
		problem.InternalError:      "the log has the reason: report it",
	}[code]
}

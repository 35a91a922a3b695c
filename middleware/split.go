package middleware

import (
	"net/http"

	"gatehouse/helper/balance"
	"gatehouse/helper/credential"
	"gatehouse/helper/exchange"
	"gatehouse/helper/token"
)

// Split shares the requests of one route among several upstreams: the end of
// upstream resolution. A caller keeps its upstream, also over tokens that are
// renewed. The breaker and the limits stand before authentication and are the
// upstream's, so the caller isn't known yet: the subject that the token claims
// decides, else the API key, else the client's address. Who lies about it gets
// another upstream, and is refused there.
type Split struct {
	Arms   []Route       // the route, once for each upstream
	Picker *balance.Hash // over Arms
}

// handler chooses among the ways of the arms.
func (s *Split) handler(way func(Route) http.Handler) http.Handler {
	ways := make([]http.Handler, len(s.Arms))
	for i, arm := range s.Arms {
		ways[i] = way(arm)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ex := exchange.From(r.Context())
		i := s.Picker.Pick(balance.All{}, callerKey(s.Arms[0].Authentication, ex, r))
		ex.Upstream, ex.Observer = s.Arms[i].Upstream, s.Arms[i].Observer
		ways[i].ServeHTTP(w, r)
	})
}

// callerKey is the same for all requests of a caller. a may be nil.
func callerKey(a *Authentication, ex *exchange.Exchange, r *http.Request) uint64 {
	if ex.Explain != nil && ex.Explain.Assumed.Given() {
		return assumedKey(ex)
	}
	if a != nil && a.Tokens != nil {
		if raw, _, state := a.find(r); state == credential.Found {
			if subject := token.UnverifiedSubject(raw); subject != "" {
				return balance.Key(subject)
			}
		}
	}
	if a != nil && a.APIKeys != nil {
		if keys := r.Header[a.APIKeyHeader]; len(keys) == 1 {
			return balance.Key(keys[0])
		}
	}
	return balance.AddrKey(ex.Client.Addr)
}

package middleware

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/breaker"
	"gatehouse/helper/clientip"
	"gatehouse/helper/credential"
	"gatehouse/helper/exchange"
	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
	"gatehouse/helper/limit"
	"gatehouse/helper/revocation"
	"gatehouse/helper/route"
	"gatehouse/helper/token"
)

// BenchmarkStages measures each stage alone, on requests that it lets through. The
// time of "nothing" is in each of them.
func BenchmarkStages(b *testing.B) {
	rule, err := limit.NewRule("bench", 1e9, time.Second, 1e9)
	if err != nil {
		b.Fatal(err)
	}
	limits := Limits{Store: limit.NewLocal(limit.Options{}), Before: []*Limit{NewLimit("bench", rule, PerAddress, false)}}
	guard := breaker.New(breaker.Options{Failures: 5, OpenFor: time.Second, HalfOpenRequests: 1})
	for _, s := range []struct {
		name  string
		stage Stage
	}{
		{"nothing", through()},
		{"recovery", recovery(zap.NewNop(), func() {})},
		{"resolution of 1 route", resolutionOf(b, 1)},
		{"resolution of 100 routes", resolutionOf(b, 100)},
		{"resolution of 10000 routes", resolutionOf(b, 10_000)},
		{"CORS", NewCORS(CORSOptions{Origins: []string{"https://app.test"}}).stage()},
		{"rate limit", rateLimit(limits, unobserved{})},
		{"circuit breaker", circuitBreaker(guard, unobserved{})},
		{"access log", accessLog(zap.NewNop())},
	} {
		b.Run(s.name, func(b *testing.B) { benchStage(b, s.stage, []string{"Bearer x"}) })
	}
	for _, n := range []int{10, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("authentication of %d tokens", n), func(b *testing.B) {
			secret := []byte("0123456789abcdef0123456789abcdef")
			benchStage(b, authenticationOf(b, secret), benchTokens(b, n, secret))
		})
	}
}

// benchStage sends requests through a stage, one after the other with each of the
// Authorization headers.
func benchStage(b *testing.B, stage Stage, authorization []string) {
	if stage == nil {
		b.Fatal("the stage is left out")
	}
	r := httptest.NewRequest(http.MethodGet, "/service-0/orders/42", nil)
	header := []string{""}
	r.Header["Authorization"] = header
	ex, r := exchange.Begin(httptest.NewRecorder(), r, 0)
	ex.Client = clientip.Client{Addr: netip.MustParseAddr("203.0.113.7")}
	ex.Observer = unobserved{}
	let := false
	handler := stage(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { let = true }))
	send := func(i int) {
		header[0], let = authorization[i], false
		handler.ServeHTTP(&ex.Writer, r)
		if !let {
			b.Fatal("the request was refused: ", ex.Code)
		}
		ex.Permit.Neutral()
		ex.Upstreamward.Clear()
		ex.Clientward.Clear()
	}
	for i := range authorization { // what is remembered is remembered now
		send(i)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i = (i + 7919) % len(authorization) // a prime: every one, in an order that no cache of the CPU foresees
		send(i)
	}
}

func benchTokens(b *testing.B, n int, secret []byte) []string {
	b.Helper()
	all := make([]string, n)
	for i := range all {
		raw, err := token.Sign(map[string]any{"iss": "bench", "sub": fmt.Sprintf("user-%d", i), "email": "user@example.com",
			"scope": "order user", "exp": 4102444800}, secret, "HS256", "")
		if err != nil {
			b.Fatal(err)
		}
		all[i] = "Bearer " + raw
	}
	return all
}

func resolutionOf(b *testing.B, n int) Stage {
	b.Helper()
	rules, routes := make([]route.Rule, n), make([]Route, n)
	for i := range rules {
		path := fmt.Sprintf("/service-%d", i)
		rules[i], routes[i] = route.Rule{Name: path, Path: path}, Route{Name: path, Upstream: "u", Observer: unobserved{}}
	}
	table, err := route.New(rules)
	if err != nil {
		b.Fatal(err)
	}
	return resolution(table, routes)
}

func authenticationOf(b *testing.B, secret []byte) Stage {
	b.Helper()
	key, err := keyset.NewSecret("", "", secret)
	if err != nil {
		b.Fatal(err)
	}
	verifier, err := token.NewVerifier([]token.Provider{{
		Name: "bench", Issuer: "bench", Algorithms: []string{"HS256"}, ScopeClaim: "scope", ForwardToken: true,
		Headers: map[string]string{"X-User-Id": "sub", "X-User-Email": "email", "X-User-Scopes": "scope"}, Source: keyset.NewSet(key),
	}})
	if err != nil {
		b.Fatal(err)
	}
	place, err := credential.ParsePlace("header")
	if err != nil {
		b.Fatal(err)
	}
	scopes, err := identity.CompileRequirement([]string{"order"})
	if err != nil {
		b.Fatal(err)
	}
	a := &Authentication{
		Tokens: token.NewCache(verifier, token.CacheSize), Places: []TokenPlace{{Place: place, Providers: []string{"bench"}}},
		Revoked: new(revocation.List), Scopes: scopes, ExpiredStatus: http.StatusForbidden, Observer: unobserved{}, Log: zap.NewNop(),
	}
	return a.stage()
}

package builtin_test

import (
	"net/http"
	"testing"

	"gatehouse/helper/exchange"
	"gatehouse/helper/identity"
)

func TestAFilterLetsThroughOrRefusesWithItsCode(t *testing.T) {
	ada := &identity.Principal{Subject: "ada", Scopes: identity.Scopes{"order"}}
	key := &identity.Principal{Subject: "robot", Client: "robot", Scopes: identity.Scopes{"order"}}
	const client = "X-Forwarded-For"
	for _, test := range []struct {
		name      string
		filters   []string
		principal *identity.Principal
		header    []string
		status    int
		code      string
	}{
		{"the chain's own work lets everybody through", []string{"request_id", "strip_identity"}, nil, nil, 200, ""},
		{"a key passes api_key", []string{"api_key"}, key, nil, 200, ""},
		{"a token doesn't pass api_key", []string{"api_key"}, ada, nil, 401, "api_key_invalid"},
		{"nobody passes api_key without a credential", []string{"api_key"}, nil, []string{"X-Api-Key", "guess"}, 401, "api_key_invalid"},
		{"a scope that is there", []string{"scope:order"}, ada, nil, 200, ""},
		{"a scope that isn't", []string{"scope:admin"}, ada, nil, 403, "scope_missing"},
		{"one of two scopes", []string{"scope:admin|order"}, ada, nil, 200, ""},
		{"two scopes of which one isn't there", []string{"scope:order", "scope:admin"}, ada, nil, 403, "scope_missing"},
		{"a scope of nobody", []string{"scope:order"}, nil, nil, 401, "credentials_missing"},
		{"an allowed address", []string{"ip_allow:10.0.0.0/8,192.0.2.7"}, nil, []string{client, "192.0.2.7"}, 200, ""},
		{"an address that isn't among the allowed", []string{"ip_allow:10.0.0.0/8,192.0.2.7"}, nil, []string{client, "192.0.2.8"}, 403, "ip_denied"},
		{"an allowed address that the client made up", []string{"ip_allow:10.0.0.0/8"}, nil, []string{client, "10.0.0.1, 192.0.2.8"}, 403, "ip_denied"},
		{"IPv4 in IPv6", []string{"ip_allow:10.0.0.0/8"}, nil, []string{client, "::ffff:10.0.0.1"}, 200, ""},
		{"a denied address", []string{"ip_deny:2001:db8::/32"}, nil, []string{client, "2001:db8::1"}, 403, "ip_denied"},
		{"an address that isn't denied", []string{"ip_deny:2001:db8::/32"}, nil, []string{client, "2001:db9::1"}, 200, ""},
		{"allowed and then denied", []string{"ip_allow:10.0.0.0/8", "ip_deny:10.1.0.0/16"}, nil, []string{client, "10.1.0.1"}, 403, "ip_denied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := send(t, serve(t, route{filters: test.filters, principal: test.principal}), http.MethodGet, test.header...)
			if got.StatusCode != test.status || got.code() != test.code {
				t.Errorf("got %d %q, want %d %q: %s", got.StatusCode, got.code(), test.status, test.code, got.body)
			}
			if (test.code == "") != (got.body == "passed") {
				t.Errorf("the body is %q", got.body)
			}
		})
	}
}

func TestARefusedScopeIsNamed(t *testing.T) {
	server := serve(t, route{filters: []string{"scope:admin"}, principal: &identity.Principal{Subject: "ada"}})
	const want = `Bearer realm="gatehouse", error="insufficient_scope", scope="admin"`
	if got := send(t, server, http.MethodGet).Header.Get("WWW-Authenticate"); got != want {
		t.Errorf("WWW-Authenticate is %q, want %q", got, want)
	}
}

func TestARateLimitCountsWhatComesAsFar(t *testing.T) {
	server := serve(t, route{filters: []string{"ip_deny:192.0.2.1", "rate_limit:2/s"}})
	for range 5 { // are refused before, and take no token
		if got := send(t, server, http.MethodGet, "X-Forwarded-For", "192.0.2.1"); got.code() != "ip_denied" {
			t.Fatalf("got %d %q", got.StatusCode, got.code())
		}
	}
	server = serve(t, route{filters: []string{"rate_limit:2/h"}})
	first, second := send(t, server, http.MethodGet), send(t, server, http.MethodGet)
	if first.StatusCode != 200 || first.Header.Get("RateLimit-Limit") != "1" || first.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("the first answer is %d with %v", first.StatusCode, first.Header)
	}
	if second.StatusCode != 429 || second.code() != "rate_limited" || second.Header.Get("Retry-After") != "1800" {
		t.Errorf("the second answer is %d %q with %v", second.StatusCode, second.code(), second.Header)
	}
}

func TestTheSmallestBodyLimitCounts(t *testing.T) {
	var limit int64
	server := serve(t, route{filters: []string{"body_limit:2KiB", "body_limit:1KiB", "body_limit:1MiB"}, upstream: func(_ http.ResponseWriter, r *http.Request) {
		limit = exchange.From(r.Context()).BodyLimit
	}})
	if send(t, server, http.MethodPost); limit != 1<<10 {
		t.Errorf("the limit is %d", limit)
	}
}

func TestTheClientIsToldOfTheStricterLimit(t *testing.T) {
	for _, filters := range [][]string{{"rate_limit:5/s", "rate_limit:10/s"}, {"rate_limit:10/s", "rate_limit:5/s"}} {
		got := send(t, serve(t, route{filters: filters}), http.MethodGet).Header
		if got.Get("RateLimit-Limit") != "5" || got.Get("RateLimit-Remaining") != "4" || got.Get("RateLimit-Policy") != "5;w=1" {
			t.Errorf("%v: the header is %v", filters, got)
		}
	}
}

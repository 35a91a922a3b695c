package gateway_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
)

// chance makes random configs and requests that meet each other often.
type chance struct{ *rand.Rand }

func (c chance) one(list ...string) string { return list[c.IntN(len(list))] }
func (c chance) in(n int) bool             { return c.IntN(n) == 0 }

func (c chance) some(list ...string) (picked []string) {
	for _, item := range list {
		if c.in(2) {
			picked = append(picked, item)
		}
	}
	return picked
}

const randomKey = "gh_a-key-for-tests"

// config is a random config, as JSON, which is YAML, that helper/config accepts.
func (c chance) config(backends [2]string) string {
	for {
		text, err := json.Marshal(c.sections(backends))
		if err != nil {
			panic(err)
		}
		none := func(string) (string, bool) { return "", false }
		if _, err := config.Parse("random.yaml", text, none, gateway.FilterCheck(nil)); err == nil {
			return string(text)
		}
	}
}

func (c chance) sections(backends [2]string) map[string]any {
	sum := sha256.Sum256([]byte(randomKey))
	provider := map[string]any{"issuer": "test", "algorithms": []string{"HS256"}, "secret": secret, "forward_token": c.in(2), "plan_claim": "plan"}
	if c.in(3) {
		provider["token_from"] = []string{"header", c.one("cookie:session", "query:token")}
	}
	auth := map[string]any{
		"providers": map[string]any{"identity": provider},
		"api_keys":  map[string]any{"keys": []any{map[string]any{"id": "robot", "sha256": hex.EncodeToString(sum[:]), "scopes": c.some("a", "b"), "plan": "gold"}}},
	}
	if c.in(3) {
		auth["assertion"] = map[string]any{}
	}
	server := map[string]any{}
	if c.in(3) {
		server["trusted_proxies"] = []string{"127.0.0.1"}
	}
	upstreams := map[string]any{}
	for _, name := range []string{"a", "b"} {
		both := []any{map[string]any{"url": backends[0] + c.one("", "/base"), "weight": 1 + c.IntN(2)}, map[string]any{"url": backends[1]}}
		u := map[string]any{"backends": both, "balance": c.one("round_robin", "hash"), "host": c.one("backend", "client", "literal.test")}
		if u["balance"] == "hash" {
			u["hash_by"] = c.one("client_ip", "subject", "header:X-Tenant", "cookie:session")
		}
		if c.in(5) {
			u["limit"] = map[string]any{"rate": "1/h", "burst": 1 + c.IntN(6)}
		}
		upstreams[name] = u
	}
	var routes []any
	paths := []string{"/", "/order", "/order/42", "= /order", "/user", "/a/b"}
	c.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for i := range 3 + c.IntN(3) {
		routes = append(routes, c.route(i, paths[i]))
	}
	return map[string]any{
		"server": server, "auth": auth, "upstreams": upstreams, "routes": routes,
		"plans": map[string]any{"gold": map[string]any{"rate": "1/h", "burst": 1 + c.IntN(5)}},
	}
}

func (c chance) route(i int, path string) map[string]any {
	r := map[string]any{
		"name": fmt.Sprint("route-", i), "path": path, "auth": c.one("none", "jwt", "api_key", "any"),
		"strip_prefix": c.in(2), "rewrite": c.one("", "", "/v2"), "allow_unusual_path": c.in(4),
	}
	if c.in(4) {
		r["split"] = []any{map[string]any{"upstream": "a", "weight": 2}, map[string]any{"upstream": "b"}}
	} else {
		r["upstream"] = c.one("a", "b")
	}
	if r["auth"] != "none" {
		r["scopes"] = c.some("a", "b|c")
		if c.in(4) {
			r["claims"] = map[string]any{"tenant": []string{"acme", "globex"}}
		}
	}
	if c.in(6) {
		r["hosts"] = c.some("api.test", "*.test")
	}
	if c.in(5) {
		r["methods"] = append(c.some("POST", "PUT"), "GET")
	}
	if c.in(4) {
		r["headers"] = map[string]string{"X-Canary": c.one("true", "~^t")}
	}
	if c.in(3) {
		r["limit"] = map[string]any{"rate": "1/h", "burst": 1 + c.IntN(9), "per": c.one("route", "client_ip"), "mode": c.one("enforce", "shadow")}
	}
	if c.in(3) {
		r["quota"] = map[string]any{"rate": "1/h", "burst": 1 + c.IntN(4), "per": c.one("subject", "header:X-Tenant"), "mode": c.one("enforce", "shadow")}
	}
	if c.in(3) {
		r["cors"] = map[string]any{"allowed_origins": []string{c.one("https://app.test", "*")}, "allowed_methods": []string{"GET", "PUT"}, "allowed_headers": []string{"X-Tenant"}}
	}
	if c.in(2) {
		r["filters"] = c.some("ip_allow:127.0.0.0/8,203.0.113.0/24", "ip_deny:203.0.113.7", "set_request_header:X-Tenant=forced", "remove_request_header:X-Canary",
			"set_response_header:X-From=gate", "remove_response_header:X-Backend", "rate_limit:2/h", "body_limit:1KiB", "compress", "scope:a", "api_key", "strip_identity")
	}
	return r
}

// query is a random request from this machine.
func (c chance) query(t *testing.T) gateway.Query {
	q := gateway.Query{
		Method: c.one("GET", "GET", "GET", "GET", "GET", "GET", "POST", "PUT", "OPTIONS", "OPTIONS", "HEAD", "TRACE"), ClientIP: loopback(),
		URL: c.one("/", "/order", "/order", "/order/42", "/order/42", "/order/42/x?y=1", "/order/", "/user", "/user/%41", "/us%65r", "/a/b", "/a/b/c", "/a//b", "/order/../user", "/order%2f42", "/none",
			"/order?token=x&a=b", "/order/42;v=1", "//order"),
		Headers: map[string]string{"Host": c.one("api.test", "other.test", "example.com", "API.test:80"), "Connection": c.one("close", "close, X-User-Id")},
	}
	for _, h := range [][2]string{
		{"X-Canary", c.one("true", "tea", "no")}, {"X-Tenant", c.one("one", "two")}, {"X-User-Id", "root"}, {"x_user_id", "root"}, {"X-Forwarded-For", c.one("203.0.113.7", "198.51.100.1, 203.0.113.8", "x")},
		{"X-Request-Id", "asked"}, {"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, {"Tracestate", "a=b"}, {"Cookie", c.one("session=x; a=b", "a=b")},
		{"Origin", c.one("https://app.test", "https://evil.test")}, {"Access-Control-Request-Method", c.one("PUT", "GET")}, {"User-Agent", "test"}, {"Te", "trailers"},
		{"X-Api-Key", c.one(randomKey, "wrong")}, {"Forwarded", "for=203.0.113.9"}, {"Accept-Encoding", "gzip"}, {"X-Gateway-Assertion", "mine"},
	} {
		if c.in(5) {
			q.Headers[h[0]] = h[1]
		}
	}
	if !c.in(3) {
		claims := map[string]any{"sub": c.one("ada", "bob"), "scope": strings.Join(append(c.some("b", "c"), "a"), " "), "email": "a@b"}
		if c.in(2) {
			claims["tenant"] = c.one("acme", "other")
		}
		if c.in(3) {
			claims["plan"] = c.one("gold", "unknown")
		}
		if c.in(10) {
			claims["exp"] = time.Now().Add(-time.Hour).Unix()
		}
		_, q.Token, _ = strings.Cut(bearer(t, claims), "Bearer ")
		if c.in(10) {
			q.Token += "x"
		}
	}
	return q
}

// disturb changes the state of the gateway, as operators and failures do.
func (c chance) disturb(s *stand, backends [2]string) {
	switch c.IntN(20) {
	case 0:
		_ = s.gw.SetBreaker(c.one("a", "b"), "open")
	case 1, 2, 3, 4:
		_ = s.gw.SetBreaker(c.one("a", "b"), "auto")
	case 5:
		_ = s.gw.DrainBackend(c.one("a", "b"), backends[c.IntN(2)], c.in(2)) // with /base it has another URL
	}
}

// send is the request on the wire.
func send(q gateway.Query) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", q.Method, q.URL)
	for name, value := range q.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	if q.Token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", q.Token)
	}
	b.WriteString("\r\n")
	return b.String()
}

// varies are the headers of an answer that depend on the moment, on the body or on the upstream.
func varies(name string) bool {
	switch name {
	case "Date", "Content-Length", "X-Request-Id", "Ratelimit-Reset", "Retry-After", "Connection", "Content-Type", "Content-Encoding", "X-Backend":
		return true
	}
	return false
}

func steady(h http.Header) string {
	h = h.Clone()
	for name := range h {
		if varies(name) {
			delete(h, name)
			continue
		}
		h[name] = []string{strings.Join(h[name], ", ")}
	}
	return fmt.Sprint(h)
}

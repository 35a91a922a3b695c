package gateway_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

const quotaConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET, plan_claim: plan}
plans:
  gold: {rate: 10/h, burst: 10}
  default: {rate: 4/h, burst: 4}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /subject, upstream: app, scopes: [], quota: {rate: 2/h, burst: 2}}
  - {path: /other, upstream: app, scopes: []}
  - {path: /tenant, upstream: app, auth: none, quota: {rate: 2/h, burst: 2, per: "header:x-tenant"}}
  - {path: /shadow, upstream: app, auth: none, quota: {rate: 1/h, burst: 1, mode: shadow}, limit: {rate: 3/h, burst: 3}}
  - {path: /shadowlimit, upstream: app, auth: none, limit: {rate: 1/h, burst: 1, per: client_ip, mode: shadow}}
  - {path: /both, upstream: app, scopes: [], limit: {rate: 3/h, burst: 3}}
`

// 401 for an unknown key, before a token is taken of anybody's quota.
func TestAPIKeysHaveQuotasAndPlans(t *testing.T) {
	const config = `
auth: {api_keys: {keys: [{id: ada, sha256: HASH_ADA, scopes: [app], plan: small}, {id: bob, sha256: HASH_BOB, scopes: [app]}]}}
plans: {small: {rate: 2/h, burst: 2}}
upstreams: {app: {url: "http://BACKEND", breaker: {failures: 0}}}
routes: [{path: /, upstream: app, auth: api_key, quota: {rate: 3/h, burst: 3}}]
`
	hash := func(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), strings.NewReplacer("HASH_ADA", hash("a"), "HASH_BOB", hash("b")).Replace(config))
	key := func(key string) []string { return []string{"X-API-Key: " + key} }
	var steps []step
	for range 9 {
		steps = append(steps, step{"/", key("unknown"), 401, "api_key_invalid"}, step{"/", nil, 401, "credentials_missing"})
	}
	s.play(append(steps, step{"/", key("a"), 200, ""}, step{"/", key("a"), 200, ""}, step{"/", key("a"), 429, "quota_exceeded"},
		step{"/", key("b"), 200, ""}, step{"/", key("b"), 200, ""}, step{"/", key("b"), 200, ""}, step{"/", key("b"), 429, "quota_exceeded"}))
	for name, want := range map[string]int{`quota rejected "ada"`: 1, `quota rejected "bob"`: 1, `quota rejected ""`: 0} {
		if got := s.counts.get(name); got != want {
			t.Errorf("counted %s %d times, want %d", name, got, want)
		}
	}
}

// A configuration that is refused because of one of its files leaves the API keys that are served their series.
func TestARefusedConfigCountsNoClients(t *testing.T) {
	const config = `
auth: {api_keys: {keys: [{id: ada, sha256: HASH}]}}
upstreams: {app: {url: "http://BACKEND"}}
routes: [{path: /, upstream: app, auth: none}]
`
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), strings.Replace(config, "HASH", strings.Repeat("a", 64), 1))
	missing := "auth: {assertion: {key_file: " + t.TempDir() + "/none.pem}}\nupstreams: {app: {url: \"http://BACKEND\", route: {auth: none}}}"
	if err := s.gw.Load(parse(t, "127.0.0.1:1", missing)); err == nil {
		t.Fatal("a config with a file that isn't there is served")
	}
	if s.counts.get("clients [ada]") != 1 || s.counts.get("clients []") != 0 {
		t.Errorf("counted %v", s.counts)
	}
}

// step is one request and what it is answered with.
type step struct {
	path    string
	headers []string
	status  int
	code    string
}

func (s *stand) play(steps []step) {
	s.t.Helper()
	for i, step := range steps {
		got := s.get(step.path, step.headers...)
		if got.StatusCode != step.status || got.code() != step.code {
			s.t.Errorf("request %d, %s: got %d %q, want %d %q", i+1, step.path, got.StatusCode, got.code(), step.status, step.code)
		}
		if retry := got.Header.Get("Retry-After"); (retry == "" || retry == "0") == (got.StatusCode == 429) {
			s.t.Errorf("request %d, %s: %d with Retry-After %q", i+1, step.path, got.StatusCode, retry)
		}
	}
}

func TestQuotas(t *testing.T) {
	user := func(sub, plan string) []string {
		return []string{bearer(t, map[string]any{"sub": sub, "plan": plan})}
	}
	tenant := func(name string) []string { return []string{"X-Tenant: " + name} }
	forged := []string{strings.Replace(bearer(t, map[string]any{"sub": "victim"}), ".", ".e30", 1)}
	for _, row := range []struct {
		name  string
		steps []step
	}{
		{"each subject has a quota of its own", []step{
			{"/subject", user("ada", "gold"), 200, ""}, {"/subject", user("ada", "gold"), 200, ""}, {"/subject", user("ada", "gold"), 429, "quota_exceeded"},
			{"/subject", user("bob", "gold"), 200, ""}}},
		{"forged tokens take nothing from the one whose name they bear", []step{
			{"/subject", forged, 401, "token_invalid"}, {"/subject", forged, 401, "token_invalid"}, {"/subject", forged, 401, "token_invalid"},
			{"/subject", user("victim", ""), 200, ""}, {"/subject", user("victim", ""), 200, ""}, {"/subject", user("victim", ""), 429, "quota_exceeded"}}},
		{"a plan's bucket is one over all routes, and default is for callers that name none", []step{
			{"/other", user("ada", ""), 200, ""}, {"/both", user("ada", ""), 200, ""}, {"/other", user("ada", ""), 200, ""}, {"/subject", user("ada", ""), 200, ""},
			{"/other", user("ada", ""), 429, "quota_exceeded"}, {"/subject", user("ada", ""), 429, "quota_exceeded"}}},
		{"a plan that doesn't exist is as good as none", []step{
			{"/other", user("ada", "platinum"), 200, ""}, {"/other", user("ada", "x"), 200, ""}, {"/other", user("ada", "platinum"), 200, ""},
			{"/other", user("ada", "platinum"), 200, ""}, {"/other", user("ada", "platinum"), 429, "quota_exceeded"}}},
		{"a plan with more", []step{
			{"/other", user("ada", "gold"), 200, ""}, {"/other", user("ada", "gold"), 200, ""}, {"/other", user("ada", "gold"), 200, ""},
			{"/other", user("ada", "gold"), 200, ""}, {"/other", user("ada", "gold"), 200, ""}}},
		{"each value of a header has a quota, and without it the address", []step{
			{"/tenant", tenant("a"), 200, ""}, {"/tenant", tenant("a"), 200, ""}, {"/tenant", tenant("a"), 429, "quota_exceeded"},
			{"/tenant", tenant("b"), 200, ""}, {"/tenant", nil, 200, ""}, {"/tenant", nil, 200, ""}, {"/tenant", nil, 429, "quota_exceeded"}}},
		{"a quota in shadow mode refuses nothing, the limit beside it does", []step{
			{"/shadow", nil, 200, ""}, {"/shadow", nil, 200, ""}, {"/shadow", nil, 200, ""}, {"/shadow", nil, 429, "rate_limited"}}},
		{"a limit in shadow mode", []step{{"/shadowlimit", nil, 200, ""}, {"/shadowlimit", nil, 200, ""}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			start(t, newRawBackend(t, says(okAnswer)).Addr().String(), quotaConfig).play(row.steps)
		})
	}
}

func TestTheStrictestLimitSpeaks(t *testing.T) {
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), quotaConfig)
	ada := bearer(t, map[string]any{"sub": "ada", "plan": "gold"})
	for i, row := range []struct{ name, path, limit, remaining, policy string }{
		{"of the quota and the plan, the quota", "/subject", "2", "1", "2;w=3600"},
		{"the plan, where it is alone", "/other", "10", "8", "10;w=3600"},
		{"of the route's limit and the plan, the limit", "/both", "3", "2", "3;w=3600"},
		{"none in shadow mode", "/shadowlimit", "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := s.get(row.path, ada)
			for name, want := range map[string]string{"RateLimit-Limit": row.limit, "RateLimit-Remaining": row.remaining, "RateLimit-Policy": row.policy} {
				if values := got.Header.Values(name); fmt.Sprint(values) != fmt.Sprint(list(want)) {
					t.Errorf("request %d: %s is %q, want %q", i+1, name, values, want)
				}
			}
		})
	}
}

func TestQuotasAreCountedAndLogged(t *testing.T) {
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), quotaConfig)
	ada := bearer(t, map[string]any{"sub": "ada"})
	for range 3 {
		s.get("/subject", ada)
	}
	for range 3 {
		s.get("/shadow")
	}
	s.get("/shadowlimit")
	s.get("/shadowlimit")
	for name, want := range map[string]int{
		"accept /subject": 3, "rejected /subject quota_exceeded": 1, `quota rejected ""`: 1, "shadowed /shadow quota_exceeded": 2,
		"rejected /shadow quota_exceeded": 0, "shadowed /shadowlimit rate_limited": 1, "accept /shadowlimit": 2, "reject /shadowlimit": 0,
	} {
		if got := s.counts.get(name); got != want {
			t.Errorf("counted %s %d times, want %d in %v", name, got, want, s.counts)
		}
	}
	lines := s.lines()
	logged(t, lines[2], map[string]any{"limited": "quota:/subject", "code": "quota_exceeded", "status": 429})
	logged(t, lines[4], map[string]any{"limited": "shadow:quota:/shadow", "status": 200})
	logged(t, lines[7], map[string]any{"limited": "shadow:client_ip:/shadowlimit", "status": 200})
}

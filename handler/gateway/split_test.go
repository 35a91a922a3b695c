package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const splitConfig = `
server: {trusted_proxies: [127.0.0.1/32]}
auth: {providers: {test: {issuer: test, algorithms: [HS256], secret: SECRET}}}
upstreams:
  old: {url: "http://OLD"}
  new: {url: "http://NEW", breaker: {failures: 1, open_for: 1h}, retry: {attempts: 1}}
routes:
  - {path: /, split: [{upstream: old, weight: 3}, {upstream: new}], scopes: []}
  - {path: /open, split: [{upstream: old}, {upstream: new}], auth: none}
  - {path: /narrow, split: [{upstream: old}, {upstream: new}]}
  - {path: /limited, split: [{upstream: old}, {upstream: new}], auth: none, limit: {rate: 1/h, burst: 4}}
  - {path: /none, split: [{upstream: old}, {upstream: new, weight: 0}], auth: none}
`

func startSplit(t *testing.T) *stand {
	t.Helper()
	named := func(name string) string {
		return newRawBackend(t, says("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"+name)).Addr().String()
	}
	return start(t, "", strings.NewReplacer("OLD", named("old"), "NEW", named("new")).Replace(splitConfig))
}

func TestASplitIsByWeightAndStickyPerCaller(t *testing.T) {
	s := startSplit(t)
	seen := map[string]int{}
	for i := range 100 {
		claims := map[string]any{"sub": fmt.Sprint("user", i)}
		first := s.get("/", bearer(t, claims)).body
		seen[first]++
		claims["exp"] = time.Now().Add(2 * time.Hour).Unix() // a renewed token
		if again := s.get("/", bearer(t, claims)).body; again != first {
			t.Errorf("user%d came to %s and then to %s", i, first, again)
		}
	}
	if seen["new"] < 10 || seen["new"] > 40 || seen["old"]+seen["new"] != 100 {
		t.Errorf("a quarter of 100 callers is %v", seen)
	}
	seen = map[string]int{}
	for i := range 100 {
		from := fmt.Sprintf("X-Forwarded-For: 10.0.0.%d", i)
		first := s.get("/open", from).body
		seen[first]++
		if again := s.get("/open", from).body; again != first {
			t.Errorf("10.0.0.%d came to %s and then to %s", i, first, again)
		}
	}
	if seen["new"] < 30 || seen["new"] > 70 {
		t.Errorf("half of 100 addresses is %v", seen)
	}
	for i := range 20 {
		if got := s.get("/none", fmt.Sprintf("X-Forwarded-For: 10.0.1.%d", i)); got.body != "old" {
			t.Errorf("weight 0 got a request: %q", got.body)
		}
	}
}

// The breaker and the limits are those of the upstream that was chosen, the route's
// own limit is one, and defaults are the first upstream's.
func TestWhatTheArmsOfASplitShare(t *testing.T) {
	s := startSplit(t)
	if got := s.get("/narrow", bearer(t, map[string]any{"sub": "ada", "scope": "new"})); got.code() != "scope_missing" {
		t.Errorf("the scope isn't that of the first upstream: %d", got.StatusCode)
	}
	passed := 0
	for i := range 20 {
		if s.get("/limited", fmt.Sprintf("X-Forwarded-For: 10.0.0.%d", i)).StatusCode == 200 {
			passed++
		}
	}
	if passed != 4 {
		t.Errorf("%d requests passed a limit of 4", passed)
	}
	upstreams := map[any]bool{}
	for _, line := range s.lines() {
		if line["status"] == 200.0 {
			upstreams[line["upstream"]] = true
			if line["backend"] == "" {
				t.Errorf("logged %v", line)
			}
		}
	}
	if !upstreams["old"] || !upstreams["new"] {
		t.Errorf("the log names the upstreams %v", upstreams)
	}
	if got := s.get("/open", "Authorization: Bearer x.y.z"); got.StatusCode != 200 {
		t.Errorf("a token that can't be read: %d", got.StatusCode)
	}
	if got := s.get("/", "Authorization: Bearer x.y.z"); got.code() != "token_invalid" {
		t.Errorf("a token that can't be read: %d %s", got.StatusCode, got.code())
	}
}

package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/logger"
	"gatehouse/middleware/filter"
)

const explained = `
auth:
  providers: {identity: {issuer: test, algorithms: [HS256], secret: SECRET, plan_claim: plan}}
  api_keys: {keys: [{id: robot, sha256: 2222222222222222222222222222222222222222222222222222222222222222, scopes: [order], plan: gold}]}
plans: {gold: {rate: 1/h, burst: 9}}
upstreams:
  order:
    backends: [{url: BACKEND/one}, {url: BACKEND/two}]
    breaker: {failures: 1, open_for: 1h}
    limit: {rate: 1/h, burst: 5}
  next: {url: BACKEND, balance: least_requests}
routes:
  - {name: orders, path: /order, upstream: order, strip_prefix: true, auth: any, quota: {rate: 1/h, burst: 3}, mirror: {upstream: next, percent: 5}}
  - {name: canaries, path: /order, upstream: next, auth: none, headers: {X-Canary: "true"}}
  - {name: posts, path: /order, upstream: next, auth: none, methods: [POST], cors: {allowed_origins: ["https://app.test"], allowed_methods: [POST]}}
  - {name: everything, path: /, upstream: next, auth: none}
  - {name: shared, path: /shared, split: [{upstream: order}, {upstream: next}], auth: api_key}
`

// Each row is a request and lines that its explanation has; "!…" is one that it hasn't.
func TestExplanations(t *testing.T) {
	s := start(t, "http://order.invalid", explained)
	ada := map[string]any{"sub": "ada", "scope": "order"}
	for _, test := range []struct {
		name  string
		query gateway.Query
		lines []string
	}{
		{"the candidates, and why the others lose", gateway.Query{URL: "/order/42", Claims: ada}, []string{
			"route       - canaries    /order has header conditions that don't hold", "route       - posts       /order doesn't admit the method",
			"route       > orders      /order matches", "route       - everything  / is less specific"}},
		{"the limits before and behind authentication", gateway.Query{URL: "/order/42", Claims: ada}, []string{
			"limit       upstream:order: allows it; 4 of 5 left after it, full in 1h0m0s; counted: all requests",
			"quota       quota:orders: allows it; 2 of 3 left after it, full in 1h0m0s; counted: subject ada"}},
		{"the caller", gateway.Query{URL: "/order/42", Claims: map[string]any{"sub": "ada", "scope": "order mail", "plan": "gold"}}, []string{
			"auth        wants any, scopes order", "auth        provider identity, subject ada, scopes order mail, plan gold",
			"quota       plan:gold: allows it; 8 of 9 left after it, full in 1h0m0s; counted: subject ada"}},
		{"an API key, by its id", gateway.Query{URL: "/order/42", APIKey: "robot"}, []string{
			"auth        provider _api_key, API key robot, scopes order, plan gold", "            + X-User-Id: robot",
			"quota       plan:gold: allows it; 8 of 9 left after it, full in 1h0m0s; counted: API key robot"}},
		{"an API key that isn't there", gateway.Query{URL: "/order/42", APIKey: "eve"}, []string{"answer      401 api_key_invalid: The API key isn't known, or has expired.",
			"auth        refused by provider _api_key: API key isn't known"}},
		{"what goes upstream", gateway.Query{URL: "/order/42?a=b", Claims: ada, Headers: map[string]string{"X-User-Id": "root", "X-Forwarded-For": "1.2.3.4", "X_User_Id": "root", "X-A": "b"}}, []string{
			"backend     > http://order.invalid/one, 0 in flight", "backend     - http://order.invalid/two, 0 in flight", "balance     round_robin",
			"forward     GET /one/42?a=b, host order.invalid", "            + X-User-Id: ada", "            + X-Forwarded-For: 192.0.2.1", "            - X_user_id", "!+ X-A"}},
		{"timeouts and mirror", gateway.Query{URL: "/order/42", Claims: ada}, []string{
			"timeouts    request 30s, connect 2s, response header 15s, idle 1m; 2 attempts at most", "mirror      5% of the requests are copied to next"}},
		{"a preflight", gateway.Query{Method: "OPTIONS", URL: "/order", Headers: map[string]string{"Origin": "https://app.test", "Access-Control-Request-Method": "POST"}}, []string{
			"route       > posts       /order matches", "cors        the preflight is answered, and allows what it asks for", "answer      204, by the gateway itself",
			"            + Access-Control-Allow-Origin: https://app.test"}},
		{"a preflight of another page", gateway.Query{Method: "OPTIONS", URL: "/order", Headers: map[string]string{"Origin": "https://evil.test", "Access-Control-Request-Method": "POST"}}, []string{
			"cors        the preflight is answered, and allows nothing: origin, method or headers aren't among those of the route"}},
		{"an origin that isn't allowed", gateway.Query{Method: "POST", URL: "/order", Headers: map[string]string{"Origin": "https://evil.test"}}, []string{
			"cors        the origin isn't allowed: a browser keeps the answer from the page"}},
		{"a path that can't be forwarded", gateway.Query{URL: "/order/../x", Claims: ada}, []string{"answer      400 bad_request: ", "remedy      "}},
		{"a split by what isn't known", gateway.Query{URL: "/shared", APIKey: "robot"}, []string{"undecided   which upstream of the split it is: that depends on the API key itself", "by the route's split order:1,next:1"}},
		{"a token that is expired", gateway.Query{URL: "/order", Claims: map[string]any{"exp": 1}}, []string{"answer      403 token_expired: ", "auth        refused by provider identity: token expired for provider identity: its exp is past"}},
		{"a header that plays tricks", gateway.Query{URL: "/order", Claims: map[string]any{"sub": "a\x1b[2J\nanswer"}}, []string{"!\x1b", "!\nanswer\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := s.gw.Explain(test.query)
			if err != nil {
				t.Fatal(err)
			}
			text := report.String()
			for _, line := range test.lines {
				unwanted, negative := strings.CutPrefix(line, "!")
				if negative == strings.Contains(text, unwanted) {
					t.Errorf("%q in\n%s", line, text)
				}
			}
		})
	}
}

func TestQueriesThatAreNoRequests(t *testing.T) {
	s := start(t, "http://order.invalid", explained)
	for name, q := range map[string]gateway.Query{
		"no URL":                    {},
		"a URL without a scheme":    {URL: "api.test/order"},
		"another scheme":            {URL: "ftp://api.test/"},
		"a space in the path":       {URL: "/a b"},
		"a line break in the path":  {URL: "/a\r\nX-A: b"},
		"a broken escape":           {URL: "/%zz"},
		"a method with a space":     {Method: "GET /", URL: "/"},
		"a header with a space":     {URL: "/", Headers: map[string]string{"X A": "b"}},
		"a header with a break":     {URL: "/", Headers: map[string]string{"X-A": "b\r\nX-B: c"}},
		"a header twice":            {URL: "/", Headers: map[string]string{"X-A": "b", "x-a": "c"}},
		"a token and Authorization": {URL: "/", Token: "a.b.c", Headers: map[string]string{"Authorization": "Bearer a"}},
		"a token with a break":      {URL: "/", Token: "a\nb"},
		"a length that is none":     {URL: "/", Headers: map[string]string{"Content-Length": "many"}},
	} {
		if report, err := s.gw.Explain(q); err == nil {
			t.Errorf("%s is explained:\n%s", name, report)
		}
	}
}

// A token of a bucket and a breaker's trial are still there for a request, however often was asked.
func TestAskingConsumesNothing(t *testing.T) {
	var failing atomic.Bool
	failing.Store(true)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if failing.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer backend.Close()
	s := start(t, backend.URL, `
upstreams:
  order: {url: BACKEND, breaker: {failures: 1, open_for: 1ms}, limit: {rate: 1/h, burst: 2}, route: {path: /order, auth: none, filters: ["rate_limit:7200/h"], mirror: {upstream: order, percent: 100}}}
`)
	ask := func() (text string) {
		for range 10 {
			report, err := s.gw.Explain(gateway.Query{URL: "/order"})
			if err != nil {
				t.Fatal(err)
			}
			text = report.String()
		}
		return text
	}
	ask()
	if got := s.get("/order").StatusCode; got != http.StatusInternalServerError {
		t.Fatalf("the first request got %d", got)
	}
	for text := ask(); !strings.Contains(text, "breaker     half-open, lets the request through"); text = ask() {
		if !strings.Contains(text, "breaker     open, refuses it") {
			t.Fatalf("the breaker isn't open:\n%s", text)
		}
	}
	failing.Store(false)
	if got := s.get("/order").StatusCode; got != http.StatusOK {
		t.Errorf("the trial got %d", got)
	}
	if text := ask(); !strings.Contains(text, "limit       upstream:order: refuses it, wait ") {
		t.Errorf("after two requests explain says\n%s", text)
	}
	if lines := len(s.lines()); lines != 2 {
		t.Errorf("two requests made %d lines", lines)
	}
}

// A filter that somebody compiled in isn't called for a question, and the answer says that it could be another one.
func TestAFilterOfOnesOwnIsUndecided(t *testing.T) {
	var called, closed int
	own := []filter.Factory{{Name: "own", New: func(filter.Use) (filter.Filter, error) {
		return filter.Func(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { called++; next.ServeHTTP(w, r) })
		}), nil
	}}, {Name: "fair", Explainable: true, New: func(filter.Use) (filter.Filter, error) {
		return filter.Func(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { closed++; next.ServeHTTP(w, r) })
		}), nil
	}}}
	gw := compiled(t, own, "upstreams: {order: {url: http://order.invalid, route: {auth: none, filters: [own, fair, \"ip_deny:192.0.2.0/24\", compress]}}}")
	report, err := gw.Explain(gateway.Query{URL: "/order"})
	if err != nil {
		t.Fatal(err)
	}
	if called != 0 || closed != 1 {
		t.Errorf("the filters were called %d and %d times", called, closed)
	}
	text := report.String()
	for _, line := range []string{"filter      own: undecided\n", "filter      fair\n", "filter      ip_deny\n", "filter      compress: the request doesn't come as far\n",
		"undecided   what the filter own does", "answer      403 ip_denied"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q isn't in\n%s", line, text)
		}
	}
}

// compiled is a gateway that serves nothing.
func compiled(t testing.TB, own []filter.Factory, yaml string) *gateway.Gateway {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(yaml), func(string) (string, bool) { return "", false }, gateway.FilterCheck(own))
	if err != nil {
		t.Fatal(err)
	}
	lg, err := logger.New(logger.Options{Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	gw, err := gateway.Build(cfg, gateway.Deps{
		Log: lg.Zap(), Observer: newCounts(), Filters: own, Offline: true,
		Access: func(*config.Config) *logger.Access { return logger.NewAccess(lg, logger.AccessOptions{}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		_ = gw.Run(over)
		_ = lg.Close(context.Background())
	})
	return gw
}

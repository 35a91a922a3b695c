package command

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/command/demo"
)

func TestExplain(t *testing.T) {
	cfg := file(t, "config.yaml", casesConfig)
	for _, test := range []struct {
		name, args     string
		code           int
		stdout, stderr string
	}{
		{"what is forwarded", "--claim sub=ada --claim scope=order /order/42", 0, "answer      forwarded to order: the upstream's\n", ""},
		{"what is refused", "/order/42", 1, "answer      401 credentials_missing: ", "the request would be refused: 401 credentials_missing\n"},
		{"with a remedy", "/order/42", 1, "remedy      send what the route asks for", ""},
		{"the reason that a client isn't told", "--claim sub=ada /order/42", 1, "refused by provider identity: missing scopes: order\n", ""},
		{"a method", "-X POST --claim scope=order /order/42", 0, "request     POST /order/42, host localhost, from 192.0.2.1\n", ""},
		{"headers", "-H X-A:b -H host:api.test --claim scope=order /order/42", 0, "host api.test, from", ""},
		{"an address", "--client-ip 203.0.113.7 --claim scope=order /order/42", 0, "from 203.0.113.7\n", ""},
		{"a token, whose keys can't be had", "--token a.b.c /order/42", 1, "answer      401 token_invalid", ""},
		{"an API key where none are known", "--api-key ada /order/42", 1, "401 credentials_missing", ""},
		{"no URL", "", 2, "", "explain takes 1 argument and got 0"},
		{"a URL that is none", "order", 2, "", "begins with http"},
		{"a header that is none", "-H X-A /order", 2, "", "it is NAME: VALUE"},
		{"a claim that is none", "--claim sub /order", 2, "", "it is NAME=VALUE"},
		{"an address that is none", "--client-ip here /order", 2, "", "it is an address"},
		{"two callers", "--token a --claim a=b /order", 2, "", "exclude each other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"explain", "--config", cfg}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("got %d\n%s%s\nwant %d, %q and %q", code, stdout, stderr, test.code, test.stdout, test.stderr)
			}
		})
	}
	if code, _, stderr := call(t, "explain", "--config", "none.yaml", "/order"); code != 1 || !strings.Contains(stderr, "none.yaml: can't be read") {
		t.Errorf("without a config: %d %s", code, stderr)
	}
}

func TestExplainForPrograms(t *testing.T) {
	code, stdout, _ := call(t, "explain", "--config", file(t, "config.yaml", casesConfig), "--json", "--claim", "scope=order", "/order/42?a=b")
	var report struct {
		Request struct{ Query string }
		Limits  []struct {
			Name      string
			Remaining int
		}
		Forward struct{ Path string }
		Answer  struct{ Forwarded bool }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
		t.Fatalf("%d, %v in %s", code, err, stdout)
	}
	if report.Request.Query != "a=b" || len(report.Limits) != 1 || report.Limits[0].Name != "route:/order" || report.Forward.Path != "/42" || !report.Answer.Forwarded {
		t.Errorf("the report is %+v", report)
	}
}

// A running gateway explains with its own state, in JSON or in words.
func TestExplainOverTheAdminAPI(t *testing.T) {
	backend := httptest.NewServer(http.NotFoundHandler())
	defer backend.Close()
	cfg := file(t, "config.yaml", "upstreams: {order: {url: "+backend.URL+", route: {auth: none, limit: {rate: 1/h, burst: 2}}}}\n")
	r := start(t, nil, "serve", "--config", cfg, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	_, admin := r.addresses(t)
	for accept, want := range map[string]string{
		"application/json": `"remaining":1`,
		"text/plain":       "limit       route:/order: allows it; 1 of 2 left after it",
	} {
		if body := askAdmin(t, http.MethodGet, "http://"+admin+"/api/explain?url=/order/42", accept, ""); !strings.Contains(body, want) {
			t.Errorf("%s: %s lacks %q", accept, body, want)
		}
	}
	if body := askAdmin(t, http.MethodPost, "http://"+admin+"/api/explain", "", `{"method": "GET", "url": "elsewhere"}`); !strings.Contains(body, "bad_request") {
		t.Errorf("a URL that is none: %s", body)
	}
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

func askAdmin(t *testing.T, method, url, accept, body string) string {
	t.Helper()
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Accept", accept)
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Remote keys are fetched where a token has to be judged by them.
func TestExplainFetchesTheKeysOfAToken(t *testing.T) {
	issuer := httptest.NewUnstartedServer(nil)
	url := "http://" + issuer.Listener.Addr().String()
	identity, err := demo.NewIdentity(url)
	if err != nil {
		t.Fatal(err)
	}
	issuer.Config.Handler = identity.Handler()
	issuer.Start()
	defer issuer.Close()
	raw := askAdmin(t, http.MethodGet, url+"/token?user=ada&scope=order&format=raw", "", "")
	cfg := file(t, "config.yaml", "auth: {providers: {identity: {issuer: \""+url+"\", algorithms: [ES256], discovery: true}}}\nupstreams: {order: {url: http://order.invalid, route: {}}}\n")
	code, stdout, stderr := call(t, "explain", "--config", cfg, "--token", strings.TrimSpace(raw), "/order")
	if code != 0 || !strings.Contains(stdout, "subject ada, scopes order") || !strings.Contains(stdout, "answer      forwarded to order") {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
}

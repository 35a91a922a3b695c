package admin

import (
	"errors"
	"strings"
	"testing"
)

// A refusal here is about no request that would be forwarded, and has no trace: its title says what its status does, and
// its detail, in the gateway's own words, what to write.
func TestRefusals(t *testing.T) {
	tests := []struct {
		name, method, path, body string
		want                     string // the whole answer, but for the detail
		detail                   string // what the detail begins with
	}{
		{"no such path", "GET", "/nowhere", "", `"title":"Not Found","status":404,"code":"no_route"`, "the page at / links to"},
		{"no such file of the page", "GET", "/page/nothing.js", "", `"title":"Not Found","status":404,"code":"no_route"`, "the page at / links to"},
		{"a wrong method", "DELETE", "/healthz", "", `"title":"Method Not Allowed","status":405,"code":"method_not_allowed"`, "this path takes GET, HEAD"},
		{"no JSON", "PUT", "/api/log-level", "debug", `"title":"Bad Request","status":400,"code":"bad_request"`, `the body must be JSON such as {\"level\":\"debug\"}`},
		{"an unknown key", "POST", "/api/upstreams/order/breaker", `{"stat":"open"}`, `"title":"Bad Request","status":400,"code":"bad_request"`,
			`the body must be JSON such as {\"state\":\"open\"}, without other keys`},
		{"two values", "POST", "/api/upstreams/order/breaker", `{"state":"open"} {}`, `"title":"Bad Request","status":400,"code":"bad_request"`,
			`the body must be JSON such as {\"state\":\"open\"}`},
		{"a wrong value", "POST", "/api/upstreams/order/breaker", `{"state":"ajar"}`, `"title":"Bad Request","status":400,"code":"bad_request"`, "write open"},
		{"no token", "GET", "/api/routes", "", `"title":"Unauthorized","status":401,"code":"credentials_missing"`, "send Authorization: Bearer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := options()
			o.Operations.SetBreaker = func(string, string) error { return errors.New("write open, closed or auto") }
			if strings.Contains(test.want, "credentials") {
				o.Token = "s3cret"
			}
			response, body := ask(t, o, test.method, test.path, test.body, "")
			before, after := `{"type":"about:blank",`+test.want+`,"detail":"`+test.detail, `"}`+"\n"
			if !strings.HasPrefix(body, before) || !strings.HasSuffix(body, after) || strings.Contains(body, "trace_id") {
				t.Errorf("got %s, want %s…%s", body, before, after)
			}
			if got := response.Header.Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("the type is %s", got)
			}
		})
	}
}

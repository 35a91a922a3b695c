package admin

import (
	"strings"
	"testing"
)

func TestToken(t *testing.T) {
	const right = "Bearer s3cret of the admin"
	tests := []struct {
		name, path, authorization string
		status                    int
		challenge                 string // of WWW-Authenticate
	}{
		{"the API needs it", "/api/routes", "", 401, `Bearer realm="gatehouse admin"`},
		{"so do the profiles", "/debug/pprof/heap", "", 401, `Bearer realm="gatehouse admin"`},
		{"the right one opens the API", "/api/routes", right, 200, ""},
		{"and the profiles", "/debug/pprof/", right, 200, ""},
		{"the scheme's case doesn't matter", "/api/routes", "bearer s3cret of the admin", 200, ""},
		{"a wrong one is refused", "/api/routes", "Bearer guess", 401, `Bearer realm="gatehouse admin", error="invalid_token"`},
		{"a part of it is wrong", "/api/routes", right[:len(right)-1], 401, `Bearer realm="gatehouse admin", error="invalid_token"`},
		{"an empty one is wrong", "/api/routes", "Bearer", 401, `Bearer realm="gatehouse admin", error="invalid_token"`},
		{"another scheme is wrong", "/api/routes", "Basic s3cret of the admin", 401, `Bearer realm="gatehouse admin", error="invalid_token"`},
		{"metrics don't need it", "/metrics", "", 200, ""},
		{"nor does liveness", "/healthz", "", 200, ""},
		{"nor does readiness", "/readyz", "", 200, ""},
		{"nor does the index", "/", "", 200, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := options()
			o.Token = strings.TrimPrefix(right, "Bearer ")
			response, body := ask(t, o, "GET", test.path, "", test.authorization)
			if response.StatusCode != test.status || response.Header.Get("WWW-Authenticate") != test.challenge {
				t.Errorf("got %d %q, want %d %q", response.StatusCode, response.Header.Get("WWW-Authenticate"), test.status, test.challenge)
			}
			if strings.Contains(body, "s3cret") {
				t.Error("the answer tells the token")
			}
		})
	}
}

func TestTokenGuardsChanges(t *testing.T) {
	o := options()
	o.Token = "s3cret"
	if response, _ := ask(t, o, "PUT", "/api/log-level", `{"level":"debug"}`, ""); response.StatusCode != 401 || o.Log.Level() != "info" {
		t.Errorf("got %d, and the level is %s; want 401 and info", response.StatusCode, o.Log.Level())
	}
}

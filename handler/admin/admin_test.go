package admin

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// levels is a log's level.
type levels struct{ now atomic.Value }

func (l *levels) Level() string { return l.now.Load().(string) }

func (l *levels) SetLevel(level string) error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, level) {
		return errors.New("unknown level")
	}
	l.now.Store(level)
	return nil
}

// options are those of a gateway that is ready.
func options() Options {
	log := new(levels)
	log.now.Store("info")
	return Options{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
		Ready:   func() Readiness { return Readiness{Ready: true} },
		Config: func() Config {
			return Config{Hash: "abc", Source: "config.yaml", Loaded: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		},
		Routes:    func() any { return []string{"orders"} },
		Upstreams: func() any { return []string{"order"} },
		Log:       log,
	}
}

// ask sends one request over a real connection.
func ask(t *testing.T, o Options, method, path, body, authorization string) (*http.Response, string) {
	t.Helper()
	server := httptest.NewServer(New(o))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

func TestEndpoints(t *testing.T) {
	tests := []struct {
		name, method, path string
		status             int
		contentType, body  string // body: what it contains
	}{
		{"the status page, with the endpoints", "GET", "/", 200, "text/html; charset=utf-8", "/readyz"},
		{"metrics are somebody else's", "GET", "/metrics", 200, "text/plain; charset=utf-8", "up 1\n"},
		{"the process lives", "GET", "/healthz", 200, "application/json", `{"status":"ok"}` + "\n"},
		{"HEAD is answered like GET", "HEAD", "/healthz", 200, "application/json", ""},
		{"the config in service", "GET", "/api/config", 200, "application/json",
			`{"hash":"abc","source":"config.yaml","loaded":"2026-01-02T03:04:05Z"}` + "\n"},
		{"its routes", "GET", "/api/routes", 200, "application/json", `["orders"]` + "\n"},
		{"its upstreams", "GET", "/api/upstreams", 200, "application/json", `["order"]` + "\n"},
		{"the log's level", "GET", "/api/log-level", 200, "application/json", `{"level":"info"}` + "\n"},
		{"the list of profiles", "GET", "/debug/pprof/", 200, "text/html; charset=utf-8", "goroutine"},
		{"a profile by name", "GET", "/debug/pprof/goroutine?debug=1", 200, "text/plain; charset=utf-8", "goroutine profile"},
		{"the command line", "GET", "/debug/pprof/cmdline", 200, "text/plain; charset=utf-8", "admin.test"},
		{"an unknown path", "GET", "/nowhere", 404, "application/problem+json", `"code":"no_route"`},
		{"a path of the public listener", "GET", "/order/42", 404, "application/problem+json", `"code":"no_route"`},
		{"a wrong method", "DELETE", "/healthz", 405, "application/problem+json", `"code":"method_not_allowed"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response, body := ask(t, options(), test.method, test.path, "", "")
			if response.StatusCode != test.status || response.Header.Get("Content-Type") != test.contentType || !strings.Contains(body, test.body) {
				t.Errorf("got %d %s %q, want %d %s %q", response.StatusCode, response.Header.Get("Content-Type"), body,
					test.status, test.contentType, test.body)
			}
			if strings.Contains(test.contentType, "json") && response.Header.Get("Cache-Control") != "no-store" {
				t.Error("the answer could be cached")
			}
		})
	}
}

func TestAllowNamesThePathsMethods(t *testing.T) {
	for path, want := range map[string]string{"/healthz": "GET, HEAD", "/api/log-level": "GET, HEAD, PUT"} {
		response, _ := ask(t, options(), "DELETE", path, "", "")
		if got := response.Header.Get("Allow"); got != want {
			t.Errorf("%s: Allow is %q, want %q", path, got, want)
		}
	}
}

func TestReadiness(t *testing.T) {
	tests := []struct {
		name   string
		now    Readiness
		status int
		body   string
	}{
		{"ready", Readiness{Ready: true}, 200, `{"status":"ready","reasons":[]}`},
		{"draining", Readiness{Reasons: []string{"draining"}}, 503, `{"status":"not ready","reasons":["draining"]}`},
		{"an upstream that is down is named, and takes nobody out of service", Readiness{Ready: true, Reasons: []string{"order is down"}}, 200,
			`{"status":"ready","reasons":["order is down"]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := options()
			o.Ready = func() Readiness { return test.now }
			if response, body := ask(t, o, "GET", "/readyz", "", ""); response.StatusCode != test.status || body != test.body+"\n" {
				t.Errorf("got %d %s, want %d %s", response.StatusCode, body, test.status, test.body)
			}
			if response, _ := ask(t, o, "GET", "/healthz", "", ""); response.StatusCode != 200 {
				t.Errorf("/healthz is %d, want 200 whatever the readiness", response.StatusCode)
			}
		})
	}
}

func TestLogLevel(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		level      string // afterwards
	}{
		{"another level", `{"level":"debug"}`, 200, "debug"},
		{"an unknown level changes nothing", `{"level":"loud"}`, 400, "info"},
		{"nor does an unknown key", `{"level":"debug","for":"1h"}`, 400, "info"},
		{"nor does what isn't JSON", `debug`, 400, "info"},
		{"nor does an empty body", ``, 400, "info"},
		{"nor does a body that is too large", `{"level":"` + strings.Repeat("x", maxBody) + `"}`, 400, "info"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := options()
			response, body := ask(t, o, "PUT", "/api/log-level", test.body, "")
			if response.StatusCode != test.status || o.Log.Level() != test.level {
				t.Errorf("got %d %s, and the level is %s; want %d and %s", response.StatusCode, body, o.Log.Level(), test.status, test.level)
			}
			if !json.Valid([]byte(body)) {
				t.Errorf("%q isn't JSON", body)
			}
		})
	}
}

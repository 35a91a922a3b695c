package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// fake is a gateway as the status page sees it, with the endpoints that change something.
type fake struct {
	mu        sync.Mutex
	actions   []string // what was asked for, as METHOD PATH BODY
	upstreams []map[string]any
	config    map[string]any
	reasons   []string
	scrapes   float64
	bulk      int // further routes
}

func newFake() *fake {
	backend := func(url string, inFlight int) map[string]any {
		return map[string]any{"url": url, "in_flight": inFlight}
	}
	return &fake{
		bulk:   210,
		config: map[string]any{"hash": "c77f091f5575964e", "source": "/etc/gatehouse/config.yaml", "loaded": "2026-01-02T03:04:05Z"},
		upstreams: []map[string]any{
			{"name": "order", "breaker": "closed", "backends": []any{backend("http://order-1:8080", 3), backend("http://order-2:8080", 1)}},
			{"name": "user", "breaker": "open", "backends": []any{backend("http://user:8080", 0)}},
			{"name": "mail", "breaker": "half-open", "backends": []any{
				map[string]any{"url": "http://mail:8080", "address": "10.0.0.1", "in_flight": 0, "healthy": true},
				map[string]any{"url": "http://mail:8080", "address": "10.0.0.2", "in_flight": 2, "healthy": true, "ejected": true},
				map[string]any{"url": "http://mail:8080", "address": "10.0.0.3", "in_flight": 5, "healthy": false}}},
		},
	}
}

// options are those of the handler under test, with this gateway behind it.
func (f *fake) options() Options {
	o := options()
	o.Metrics = http.HandlerFunc(f.metrics)
	o.Ready = func() Readiness { return Readiness{Ready: true, Reasons: f.reasons} }
	o.Routes = func() any {
		routes := []map[string]any{
			{"name": "orders", "path": "/order", "upstream": "order", "auth": "jwt", "scopes": []string{"order"}},
			{"name": "users", "path": "/user", "methods": []string{"GET", "POST"}, "hosts": []string{"api.example.com"}, "upstream": "user", "auth": "jwt", "scopes": []string{"user"}},
			{"name": "public", "path": "/public", "upstream": "order", "auth": "none"},
		}
		for i := range f.bulk {
			routes = append(routes, map[string]any{"name": fmt.Sprintf("bulk-%d", i), "path": fmt.Sprintf("/bulk/%d", i), "upstream": "order", "auth": "jwt"})
		}
		return routes
	}
	o.Upstreams = func() any { return f.now().upstreams }
	return o
}

func (f *fake) now() *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, _ := json.Marshal(f.upstreams)
	copied := &fake{config: f.config, actions: append([]string{}, f.actions...)}
	_ = json.Unmarshal(text, &copied.upstreams)
	return copied
}

// metrics has 40 requests more at each scrape for order, half of them within 10 ms, and 10 for user of which 2 are 503.
func (f *fake) metrics(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	f.scrapes++
	n := f.scrapes
	f.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "# HELP http_requests_total x\nhttp_requests_total{code=\"200\",method=\"GET\",upstream=\"order\",uri=\"orders\"} %v\n", 40*n)
	fmt.Fprintf(&b, "http_requests_total{code=\"200\",method=\"GET\",upstream=\"user\",uri=\"users\"} %v\nhttp_requests_total{code=\"503\",method=\"GET\",upstream=\"user\",uri=\"users\"} %v\n", 8*n, 2*n)
	for _, bucket := range []struct {
		le          string
		order, user float64
	}{{"0.01", 20, 2}, {"0.1", 40, 8}, {"1.0", 40, 10}, {"+Inf", 40, 10}} {
		fmt.Fprintf(&b, "http_request_duration_seconds_bucket{upstream=\"order\",uri=\"orders\",le=%q} %v\n", bucket.le, bucket.order*n)
		fmt.Fprintf(&b, "http_request_duration_seconds_bucket{upstream=\"user\",uri=\"users\",le=%q} %v\n", bucket.le, bucket.user*n)
		fmt.Fprintf(&b, "gateway_backend_duration_seconds_bucket{backend=\"http://order-1:8080\",upstream=\"order\",le=%q} %v\n", bucket.le, bucket.order*n/2)
	}
	b.WriteString("gateway_backend_up{backend=\"http://order-1:8080\",upstream=\"order\"} 1\ngateway_backend_up{backend=\"http://user:8080\",upstream=\"user\"} 0\n")
	b.WriteString("gateway_inflight_requests 4\ncircuit_breaker_open{upstream=\"user\"} 17\ngateway_build_info{go=\"go1.26\",version=\"v1.2.3\"} 1\n")
	_, _ = io.WriteString(w, b.String())
}

// serve starts the handler. With changes, it has the endpoints that change something, and explain.
func (f *fake) serve(t *testing.T, token string, changes bool) string {
	t.Helper()
	o := f.options()
	o.Token = token
	handler := New(o)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		change := strings.HasSuffix(r.URL.Path, "/breaker") || strings.HasSuffix(r.URL.Path, "/drain") || r.URL.Path == "/api/reload"
		switch {
		case r.URL.Path == "/api/config" && token == "":
			reply(w, http.StatusOK, f.now().config)
		case changes && change && r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case changes && change:
			f.act(w, r)
		case changes && r.URL.Path == "/api/explain":
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.RawQuery, body)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

func (f *fake) act(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.actions = append(f.actions, r.Method+" "+r.URL.Path+" "+string(body))
	var wanted struct{ State, Backend string }
	_ = json.Unmarshal(body, &wanted)
	if wanted.State != "" {
		f.upstreams[0]["breaker"], f.upstreams[0]["override"] = wanted.State, wanted.State
	}
	if wanted.Backend != "" {
		f.upstreams[0]["backends"].([]any)[0].(map[string]any)["draining"] = true
	}
	switch {
	case r.URL.Path != "/api/reload":
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	case strings.HasSuffix(f.actions[max(0, len(f.actions)-2)], "/api/reload {}"): // the second one
		reply(w, http.StatusUnprocessableEntity, map[string]any{"result": "failure",
			"problems": []string{"config.yaml:3:1: sever: is not a key", "config.yaml:4:1: rotues: is not a key"}})
	default:
		reply(w, http.StatusOK, map[string]any{"result": "success", "changes": map[string]any{"added": []string{"route /new"}}})
	}
}

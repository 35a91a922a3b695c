package gateway_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
)

// withFilters is the config of a route with filters, behind a trusted proxy.
func withFilters(auth string, filters ...string) string {
	for i, f := range filters {
		filters[i] = fmt.Sprintf("%q", f)
	}
	return `
server: {trusted_proxies: [127.0.0.1]}
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
upstreams:
  order: {url: "BACKEND"}
routes:
- {name: orders, path: /order, upstream: order, auth: ` + auth + `, scopes: [], filters: [` + strings.Join(filters, ", ") + `]}
`
}

func TestAFilterRefusesBeforeTheUpstreamIsAsked(t *testing.T) {
	for _, test := range []struct {
		name    string
		filters []string
		request string // what follows Host
		status  int
		code    string
	}{
		{"an address that isn't allowed", []string{"ip_allow:10.0.0.0/8"}, "", 403, "ip_denied"},
		{"an address that is denied", []string{"ip_deny:203.0.113.0/24"}, "X-Forwarded-For: 203.0.113.9\r\n", 403, "ip_denied"},
		{"a body that is declared too large", []string{"body_limit:4"}, "Content-Length: 5\r\n\r\n12345", 413, "body_too_large"},
		{"a body that turns out too large", []string{"body_limit:4"}, "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n", 413, "body_too_large"},
	} {
		t.Run(test.name, func(t *testing.T) {
			whole := make(chan struct{}, 1)
			backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err == nil {
					whole <- struct{}{}
				}
			}))
			defer backend.Close()
			s := start(t, backend.URL, withFilters("none", test.filters...))
			answer := s.raw("POST /order HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + test.request + "\r\n")
			if !strings.HasPrefix(answer, fmt.Sprintf("HTTP/1.1 %d ", test.status)) || !strings.Contains(answer, `"code":"`+test.code+`"`) {
				t.Errorf("the answer is %q", answer)
			}
			if lines := s.lines(); len(lines) != 1 || lines[0]["code"] != test.code {
				t.Errorf("the log is %v", lines)
			}
			backend.Close() // waits for its handler
			if len(whole) > 0 {
				t.Error("the upstream got a whole request")
			}
		})
	}
}

func TestNoOrderOfFiltersOpensAHole(t *testing.T) {
	lists := [][]string{
		nil,
		{"strip_identity", "request_id"},
		{"request_id", "set_request_header:X-Tenant=acme", "strip_identity"},
		{"set_request_header:X-Tenant=acme", "remove_request_header:Cookie", "request_id"},
	}
	for _, auth := range []string{"none", "jwt"} {
		for _, filters := range lists {
			t.Run(auth+" "+strings.Join(filters, " "), func(t *testing.T) {
				saw := make(chan http.Header, 1)
				backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { saw <- r.Header }))
				defer backend.Close()
				s := start(t, backend.URL, withFilters(auth, slices.Clone(filters)...))
				request, user := "GET /order HTTP/1.1\r\nHost: x\r\nX-User-Id: root\r\nX_User_Email: root\r\nX-Tenant: evil\r\nX_Tenant: evil\r\nConnection: close, X-Tenant\r\n", ""
				if auth == "jwt" {
					request, user = request+bearer(t, map[string]any{"sub": "ada"})+"\r\n", "ada"
				}
				if answer := s.raw(request + "\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
					t.Fatalf("the answer is %q", answer)
				}
				got := <-saw
				if got.Get("X-User-Id") != user || got["X_user_email"] != nil || got.Get("X-User-Email") != "" || got.Get("X-Request-Id") == "" {
					t.Errorf("the upstream saw %v", got)
				}
				if slices.Contains(filters, "set_request_header:X-Tenant=acme") && (got.Get("X-Tenant") != "acme" || got["X_tenant"] != nil) {
					t.Errorf("the upstream saw the client's X-Tenant: %v", got)
				}
			})
		}
	}
}

func TestACompressedAnswerOfAnUpstreamArrivesWhole(t *testing.T) {
	text := strings.Repeat("all work and no play makes Jack a dull boy\n", 1000)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, text)
		w.Header().Set("X-Sum", "42")
	}))
	defer backend.Close()
	s := start(t, backend.URL, withFilters("none", "compress", "set_response_header:X-Frame-Options=DENY"))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/order", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	z, err := gzip.NewReader(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil || string(plain) != text {
		t.Fatalf("got %d bytes, %v", len(plain), err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	if response.Trailer.Get("X-Sum") != "42" || response.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("the header is %v, the trailer %v", response.Header, response.Trailer)
	}
	if lines := s.lines(); len(lines) != 1 || lines[0]["bytes_out"].(float64) >= float64(len(text)) {
		t.Errorf("the log is %v", lines)
	}
}

func TestAWrongFilterHasItsPlaceInTheFile(t *testing.T) {
	yaml := strings.NewReplacer("BACKEND", "http://127.0.0.1:1", "SECRET", secret).Replace(
		withFilters("none", "compres", "rate_limit:often", "set_request_header:X-User-Id=root", "request_id", "request_id", "scope:order", "own:x"))
	_, err := config.Parse("test.yaml", []byte(yaml), func(string) (string, bool) { return "", false }, gateway.FilterCheck(own(make(chan string, 2))))
	if err == nil {
		t.Fatal("the config is accepted")
	}
	for _, want := range []string{
		`routes[0].filters[0]: "compres" is not a filter: did you mean "compress"?`,
		`routes[0].filters[1]: rate_limit: the argument is not a rate: write one such as 10/s`,
		`routes[0].filters[2]: set_request_header: X-User-Id is the gateway's alone`,
		`routes[0].filters[4]: is there twice: remove one`,
		`routes[0].filters[5]: scope: has no effect with auth: none`,
		"test.yaml:9:",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the problems lack %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "filters[6]") || strings.Contains(err.Error(), "filters[3]") {
		t.Errorf("a good filter is refused:\n%v", err)
	}
}

package gateway_test

import (
	"sort"
	"strings"
	"testing"
)

const crossConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 1, open_for: 1h}}
  gone: {url: "http://127.0.0.1:1", breaker: {failures: 0}}
routes:
  - {path: /a, methods: [GET, PUT], upstream: app, auth: none, cors: {allowed_origins: ["https://good.test", "https://*.good.test"], allowed_methods: [GET, PUT],
     allowed_headers: [X-A, Authorization], exposed_headers: [X-Total], allow_credentials: true, max_age: 10m}}
  - {path: /any, upstream: app, auth: none, cors: {allowed_origins: ["*"], allowed_methods: [GET], allowed_headers: ["*"]}}
  - {path: /closed, upstream: app, cors: {allowed_origins: ["https://good.test"], allowed_methods: [GET]}}
  - {path: /gone, upstream: gone, auth: none, cors: {allowed_origins: ["https://good.test"], allowed_methods: [GET]}}
  - {path: /plain, upstream: app, auth: none}
`

// corsHeaders are the cross-origin headers of an answer as they came, sorted.
func corsHeaders(head string) string {
	var found []string
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "Access-Control-") || strings.HasPrefix(line, "Vary:") {
			found = append(found, strings.TrimPrefix(line, "Access-Control-"))
		}
	}
	sort.Strings(found)
	return strings.Join(found, " | ")
}

const preflightVary = "Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers"

// TestPreflights compares every cross-origin header; none reaches the backend.
func TestPreflights(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), crossConfig)
	for _, row := range []struct{ name, path, origin, method, headers, status, want string }{
		{"of an allowed origin", "/a", "https://good.test", "PUT", "", "204",
			"Allow-Credentials: true | Allow-Methods: PUT | Allow-Origin: https://good.test | Max-Age: 600 | " + preflightVary},
		{"of a subdomain", "/a", "https://x.good.test", "GET", "", "204",
			"Allow-Credentials: true | Allow-Methods: GET | Allow-Origin: https://x.good.test | Max-Age: 600 | " + preflightVary},
		{"with headers in any case and order", "/a", "https://good.test", "GET", "X-a, AUTHORIZATION", "204",
			"Allow-Credentials: true | Allow-Headers: authorization,x-a | Allow-Methods: GET | Allow-Origin: https://good.test | Max-Age: 600 | " + preflightVary},
		{"with a header that isn't allowed", "/a", "https://good.test", "GET", "x-b", "204", preflightVary},
		{"for a method that isn't allowed", "/a", "https://good.test", "DELETE", "", "204", preflightVary},
		{"of another origin", "/a", "https://evil.test", "GET", "", "204", preflightVary},
		{"of an origin that ends alike", "/a", "https://xgood.test", "GET", "", "204", preflightVary},
		{"of an origin that begins alike", "/a", "https://good.test.evil.test", "GET", "", "204", preflightVary},
		{"of another scheme", "/a", "http://good.test", "GET", "", "204", preflightVary},
		{"of another port", "/a", "https://good.test:8443", "GET", "", "204", preflightVary},
		{"of null", "/a", "null", "GET", "", "204", preflightVary},
		{"of anyone where all may", "/any", "https://x.test", "GET", "x-b", "204",
			"Allow-Headers: x-b | Allow-Methods: GET | Allow-Origin: * | " + preflightVary},
		{"with Authorization, which * doesn't mean", "/any", "https://x.test", "GET", "x-b,authorization", "204", preflightVary},
		{"without a token on a closed route", "/closed", "https://good.test", "GET", "", "204",
			"Allow-Methods: GET | Allow-Origin: https://good.test | " + preflightVary},
		{"for no route", "/nope", "https://good.test", "GET", "", "404", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			asked := []string{"Origin: " + row.origin, "Access-Control-Request-Method: " + row.method}
			if row.headers != "" {
				asked = append(asked, "Access-Control-Request-Headers: "+row.headers)
			}
			head := s.raw(request("OPTIONS "+row.path, asked...))
			if !strings.HasPrefix(head, "HTTP/1.1 "+row.status+" ") || len(headerLines(head, "X-Request-Id")) != 1 {
				t.Errorf("got %q", head)
			}
			if got := corsHeaders(head); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
	if seen := backend.seen(); len(seen) != 0 {
		t.Errorf("the backend saw %q", seen)
	}
}

const exposes = "Expose-Headers: X-Request-Id, Retry-After, Ratelimit-Limit, Ratelimit-Remaining, Ratelimit-Reset, Ratelimit-Policy"

// The gateway's headers replace the upstream's and stand on its own refusals
// too; what the upstream said of Vary stays.
func TestAnswersToOtherOrigins(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Credentials: true\r\naccess-control-expose-headers: X-Secret\r\n"+
		"Vary: Accept-Encoding\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	s := start(t, backend.Addr().String(), crossConfig)
	for _, row := range []struct{ name, method, path, origin, status, want string }{
		{"of an allowed origin", "GET", "/a", "https://good.test", "200", "Allow-Credentials: true | Allow-Origin: https://good.test | " +
			strings.Replace(exposes, "X-Request-Id", "X-Total, X-Request-Id", 1) + " | Vary: Accept-Encoding | Vary: Origin"},
		{"of another origin", "GET", "/a", "https://evil.test", "200", "Vary: Accept-Encoding | Vary: Origin"},
		{"of no origin", "GET", "/a", "", "200", "Vary: Accept-Encoding | Vary: Origin"},
		{"of null", "GET", "/a", "null", "200", "Vary: Accept-Encoding | Vary: Origin"},
		{"where all may", "GET", "/any", "https://x.test", "200", "Allow-Origin: * | " + exposes + " | Vary: Accept-Encoding | Vary: Origin"},
		{"on a route without a policy, the upstream's own", "GET", "/plain", "https://good.test", "200",
			"Allow-Credentials: true | Allow-Origin: * | Expose-Headers: X-Secret | Vary: Accept-Encoding"},
		{"with a 401", "GET", "/closed", "https://good.test", "401", "Allow-Origin: https://good.test | " + exposes + " | Vary: Origin"},
		{"with a 401 for another origin", "GET", "/closed", "https://evil.test", "401", "Vary: Origin"},
		{"with a 502", "GET", "/gone", "https://good.test", "502", "Allow-Origin: https://good.test | " + exposes + " | Vary: Origin"},
		{"with OPTIONS that is no preflight", "OPTIONS", "/any", "https://x.test", "200", "Allow-Origin: * | " + exposes + " | Vary: Accept-Encoding | Vary: Origin"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var headers []string
			if row.origin != "" {
				headers = append(headers, "Origin: "+row.origin)
			}
			head := s.raw(request(row.method+" "+row.path, headers...))
			if !strings.HasPrefix(head, "HTTP/1.1 "+row.status+" ") {
				t.Fatalf("got %q", head)
			}
			if got := corsHeaders(head); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// Of two origins one would be judged and the other allowed. No page sends two, and no backend sees them.
func TestTwoOriginsAreRefused(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), crossConfig)
	for _, path := range []string{"/a", "/any", "/plain"} {
		for _, method := range []string{"GET", "OPTIONS"} {
			head := s.raw(request(method+" "+path, "Origin: https://good.test", "origin: https://evil.test", "Access-Control-Request-Method: GET"))
			if !strings.HasPrefix(head, "HTTP/1.1 400 ") || !strings.Contains(head, `"code":"bad_request"`) || corsHeaders(head) != "" {
				t.Errorf("%s %s: got %q", method, path, head)
			}
		}
	}
	if seen := backend.seen(); len(seen) != 0 {
		t.Errorf("the backend saw %q", seen)
	}
}

// A policy without methods allows those of the route.
func TestPreflightOfARoutesOwnMethods(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), `
upstreams: {a: {url: "http://BACKEND"}}
routes: [{path: /a, upstream: a, auth: none, methods: [GET, DELETE], cors: {allowed_origins: ["https://good.test"]}}]
`)
	for method, want := range map[string]string{"DELETE": "DELETE", "GET": "GET", "PUT": ""} {
		got := s.do("OPTIONS", "/a", "", "Origin: https://good.test", "Access-Control-Request-Method: "+method)
		if allowed := got.Header.Get("Access-Control-Allow-Methods"); got.StatusCode != 204 || allowed != want {
			t.Errorf("%s: %d, allowed %q, want %q", method, got.StatusCode, allowed, want)
		}
	}
	if len(backend.seen()) > 0 {
		t.Error("a preflight reached the backend")
	}
}

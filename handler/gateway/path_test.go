package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

const pathConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
  based: {url: "http://BACKEND/base/v1/", breaker: {failures: 0}}
routes:
  - {path: /, upstream: app, auth: none}
  - {path: /admin, upstream: app, scopes: []}
  - {path: /strip, upstream: app, auth: none, strip_prefix: true}
  - {path: /moved, upstream: app, auth: none, strip_prefix: true, rewrite: /new}
  - {path: /front, upstream: app, auth: none, rewrite: /put}
  - {path: /based, upstream: based, auth: none}
  - {path: /odd, upstream: app, auth: none, allow_unusual_path: true}
  - {path: /oddstrip, upstream: app, auth: none, strip_prefix: true, allow_unusual_path: true}
`

// TestPathReachesTheBackendAsItCame compares request lines byte for byte.
func TestPathReachesTheBackendAsItCame(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), pathConfig)
	many := strings.Repeat("a&", 12000)
	for _, row := range []struct{ name, target, want string }{
		{"escapes keep their form", "/a%20b%7E%41%c3%a9~", ""},
		{"bytes that Go would escape", "/{a}|^\"<>`'()*[]@:!$&+,=", ""},
		{"a semicolon is part of its segment", "/a;v=1/b", ""},
		{"a doubly encoded slash is none", "/a%252f..%252fb", ""},
		{"other encoded delimiters", "/a%3b%3f%23%25b", ""},
		{"a slash at the end", "/a/", ""},
		{"three dots", "/.../b", ""},
		{"the root", "/", ""},
		{"a question mark alone", "/a?", ""},
		{"two question marks", "/a??", ""},
		{"the order and the encoding of the query", "/a?z=1&x=1;y=2&a=3%20b+c", ""},
		{"a query that can't be parsed", "/a?c=%zz&d=%", ""},
		{"odd bytes in the query", "/a?q={\"x\":[1]}|^`<>\\//../..", ""},
		{"12,000 parameters", "/a?" + many + "z", ""},
		{"a stripped prefix", "/strip/a%20b/?x=%7E", "/a%20b/?x=%7E"},
		{"nothing is left of it", "/strip?x", "/?x"},
		{"stripped and put elsewhere", "/moved/{a}?", "/new/{a}?"},
		{"put in front", "/front/a", "/put/front/a"},
		{"behind the base path of the backend's URL", "/based/a%7E?x", "/base/v1/based/a%7E?x"},
		{"an unusual path where it's allowed", "/odd/../%2e%2e/a%2fb//c%5c\\%00", ""},
		{"an unusual path that begins with two slashes", "/oddstrip//evil.test/x", "//evil.test/x"},
		{"the same with bytes that Go would escape", "/oddstrip//evil.test/{x}?q", "http://BACKEND//evil.test/{x}?q"},
		{"an absolute target", "http://gw.test/a%7E?x=1", "/a%7E?x=1"},
		{"an absolute target without a path", "HTTP://gw.test?x=1", "/?x=1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := row.want
			if want == "" {
				want = row.target
			}
			want = strings.ReplaceAll(want, "BACKEND", backend.Addr().String())
			text := s.raw(request("GET " + row.target))
			if !strings.HasPrefix(text, "HTTP/1.1 200 ") {
				t.Fatalf("got %q", text)
			}
			line, _, _ := strings.Cut(backend.last(t), "\r\n")
			if line != "GET "+want+" HTTP/1.1" {
				t.Errorf("the backend read %.300q, want %.300q", line, want)
			}
		})
	}
}

func TestTargetsThatAreRefused(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), pathConfig)
	for _, row := range []struct {
		name, line string
		status     int
	}{
		{"dot segments", "GET /public/../admin", 400},
		{"a single dot", "GET /public/./x", 400},
		{"encoded dots", "GET /public/%2e%2E/admin", 400},
		{"dots with parameters", "GET /strip/..;/admin", 400},
		{"an encoded slash", "GET /public/..%2fadmin", 400},
		{"an encoded slash without dots", "GET /public/a%2Fb", 400},
		{"two slashes in front", "GET //admin", 400},
		{"two slashes between", "GET /admin//x", 400},
		{"a backslash", "GET /a\\b", 400},
		{"an encoded backslash", "GET /%5cevil.test/", 400},
		{"NUL", "GET /a%00b", 400},
		{"an encoded newline", "GET /a%0ab", 400},
		{"a bad escape", "GET /a%zz", 400},
		{"a raw fragment", "GET /a#b", 400},
		{"a raw fragment in the query", "GET /a?b#c", 400},
		{"no slash", "GET a", 400},
		{"user information in the target", "GET http://x@gw.test/", 400},
		{"another scheme", "GET ftp://gw.test/", 400},
		{"an asterisk", "OPTIONS *", 400},
		{"CONNECT", "CONNECT 10.0.0.1:22", 405},
		{"TRACE", "TRACE /", 405},
		{"a route's token, over an absolute target", "GET http://gw.test/admin", 401},
		{"a prefix that isn't at a segment's end", "GET /strip../admin", 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := len(backend.seen())
			text := s.raw(request(row.line))
			if !strings.HasPrefix(text, fmt.Sprintf("HTTP/1.1 %d ", row.status)) {
				t.Errorf("got %q, want %d", text, row.status)
			}
			if strings.Contains(text, "\r\nLocation:") {
				t.Errorf("the gateway redirects: %q", text)
			}
			if reached := len(backend.seen()) > before; reached != (row.status == 200) {
				t.Errorf("the backend saw the request: %v", reached)
			}
		})
	}
}

func TestHostChoosesTheRoute(t *testing.T) {
	const config = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
upstreams:
  app: {url: "http://BACKEND", host: client, breaker: {failures: 0}}
  named: {url: "http://BACKEND", host: inner.test, breaker: {failures: 0}}
  plain: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {name: a, path: /, hosts: [a.test], upstream: app, auth: none}
  - {name: b, path: /, hosts: [b.test], upstream: app, scopes: []}
  - {name: named, path: /named, hosts: [a.test], upstream: named, auth: none}
  - {name: plain, path: /plain, hosts: [a.test], upstream: plain, auth: none}
`
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), config)
	for _, row := range []struct {
		name, line, host string
		status           int
		backendHost      string
	}{
		{"as it is", "GET / HTTP/1.1", "Host: a.test\r\n", 200, "a.test"},
		{"in upper case", "GET / HTTP/1.1", "Host: A.TEST\r\n", 200, "A.TEST"},
		{"with a dot at the end", "GET / HTTP/1.1", "Host: a.test.\r\n", 200, "a.test."},
		{"with a port", "GET / HTTP/1.1", "Host: a.test:8080\r\n", 200, "a.test:8080"},
		{"with user information", "GET / HTTP/1.1", "Host: x@a.test\r\n", 400, ""},
		{"empty", "GET / HTTP/1.1", "Host: \r\n", 400, ""},
		{"none", "GET / HTTP/1.1", "", 400, ""},
		{"two", "GET / HTTP/1.1", "Host: a.test\r\nHost: a.test\r\n", 400, ""},
		{"not ASCII", "GET / HTTP/1.1", "Host: a\xff.test\r\n", 400, ""},
		{"unknown", "GET / HTTP/1.1", "Host: c.test\r\n", 404, ""},
		{"none in HTTP/1.0", "GET / HTTP/1.0", "", 404, ""},
		{"of an absolute target counts, not the header's", "GET http://b.test/x HTTP/1.1", "Host: a.test\r\n", 401, ""},
		{"of an absolute target reaches the backend", "GET http://a.test/x HTTP/1.1", "Host: b.test\r\n", 200, "a.test"},
		{"a literal name", "GET /named HTTP/1.1", "Host: a.test\r\n", 200, "inner.test"},
		{"the backend's own by default", "GET /plain HTTP/1.1", "Host: a.test\r\n", 200, backend.Addr().String()},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := len(backend.seen())
			text := s.raw(row.line + "\r\n" + row.host + "Connection: close\r\n\r\n")
			if !strings.Contains(text, fmt.Sprintf(" %d ", row.status)) {
				t.Fatalf("got %q, want %d", text, row.status)
			}
			if row.backendHost == "" {
				if len(backend.seen()) != before {
					t.Errorf("the backend saw %q", backend.last(t))
				}
				return
			}
			if hosts := headerLines(backend.last(t), "Host"); len(hosts) != 1 || hosts[0] != row.backendHost {
				t.Errorf("the backend read Host: %q, want %q", hosts, row.backendHost)
			}
		})
	}
}

func TestMethodsAreCaseSensitive(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), "upstreams:\n  app: {url: \"http://BACKEND\"}\nroutes:\n  - {path: /, upstream: app, auth: none, methods: [GET]}\n")
	for _, line := range []string{"get /", "Get /", "FOO /", "POST /"} {
		if text := s.raw(request(line, "X-HTTP-Method-Override: GET")); !strings.HasPrefix(text, "HTTP/1.1 405 ") || !strings.Contains(text, "\r\nAllow: GET") {
			t.Errorf("%s: got %q", line, text)
		}
	}
	if len(backend.seen()) != 0 {
		t.Errorf("the backend saw %q", backend.seen())
	}
}

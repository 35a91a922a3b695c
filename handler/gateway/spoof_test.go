package gateway_test

import (
	"strings"
	"testing"
)

const spoofConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET, headers: {X-User-Id: sub, X-Tenant: tenant}}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /open, upstream: app, auth: none}
  - {path: /closed, upstream: app, scopes: []}
`

// TestIdentityHeadersCannotBeSpoofed compares the whole head that the backend
// saw: an extra header in any spelling fails.
func TestIdentityHeadersCannotBeSpoofed(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), spoofConfig)
	token := bearer(t, map[string]any{"sub": "ada", "tenant": "acme"})
	for _, row := range []struct {
		name    string
		headers []string
		kept    []string // besides the gateway's own
		spoof   int
	}{
		{"nothing is forged", nil, nil, 0},
		{"the plain name", []string{"X-User-Id: evil"}, nil, 1},
		{"in other case", []string{"x-USER-id: evil"}, nil, 1},
		{"with underscores", []string{"X_User_Id: evil", "x-user_id: evil"}, nil, 1},
		{"with dots and other separators", []string{"X.User.Id: evil", "X~User-Id: evil", "X!User+Id: evil"}, nil, 1},
		{"twice", []string{"X-User-Id: admin", "X-User-Id: root"}, nil, 1},
		{"a name that only another route's provider sets", []string{"X-Tenant: evil", "X_TENANT: evil"}, nil, 1},
		{"the usual names although no provider sets them", []string{"X-User-Scopes: admin", "X-User-Email: root@x.test"}, nil, 1},
		{"forged and named in Connection", []string{"Connection: X-User-Id", "X-User-Id: evil"}, nil, 1},
		{"named in Connection, to have it removed", []string{"Connection: close, X-User-Id, X-Tenant, X-Forwarded-For, X-Request-Id, traceparent"}, nil, 0},
		{"folded over two lines", []string{"X-User-Id: ev\r\n il"}, nil, 1},
		{"a longer name is another header", []string{"X-User-Identity: x"}, []string{"X-User-Identity: x"}, 0},
		{"the gateway's own names in other spellings", []string{"X_Request_Id: evil", "Trace_parent: x", "TRACEPARENT: zzz"}, []string{"Trace_parent: x"}, 0},
		{"headers that ask for another path or method", []string{"X-Original-URL: /open", "X-Rewrite-URL: /open", "X_Original_Url: /x", "X-Forwarded-Uri: /open",
			"X-HTTP-Method-Override: OPTIONS"}, []string{"X-Http-Method-Override: OPTIONS"}, 0},
		{"headers that name another client", []string{"X-Forwarded-For: 6.6.6.6", "Forwarded: for=6.6.6.6", "X-Real-IP: 6.6.6.6", "X_Forwarded_For: 6.6.6.6",
			"X-Forwarded-Host: evil.test", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /evil", "X_Real_Ip: 6.6.6.6"}, nil, 0},
	} {
		for _, route := range []string{"/open", "/closed"} {
			t.Run(strings.TrimPrefix(route, "/")+": "+row.name, func(t *testing.T) {
				before := s.counts.get("spoof")
				own := []string{token}
				identity := []string{token, "X-Tenant: acme", "X-User-Id: ada"}
				if route == "/open" {
					own, identity = nil, nil
				}
				text := s.raw(request("GET "+route, append(own, row.headers...)...))
				if !strings.HasPrefix(text, "HTTP/1.1 200 ") {
					t.Fatalf("got %q", text)
				}
				checkHead(t, backend.last(t), "GET "+route, append(identity, row.kept...)...)
				if n := s.counts.get("spoof") - before; n != row.spoof {
					t.Errorf("counted %d spoofs, want %d", n, row.spoof)
				}
			})
		}
	}
}

// checkHead compares the whole head of a request from 127.0.0.1 to gw.test:
// the request line, the gateway's own headers with any values where they are
// random, and the further ones, in any order.
func checkHead(t *testing.T, head, line string, further ...string) {
	t.Helper()
	want := map[string]bool{
		"X-Forwarded-For: 127.0.0.1": true, "X-Forwarded-Host: gw.test": true, "X-Forwarded-Proto: http": true,
		"Forwarded: for=127.0.0.1;host=gw.test;proto=http": true,
	}
	for _, h := range further {
		want[h] = true
	}
	lines := strings.Split(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n")
	if lines[0] != line+" HTTP/1.1" {
		t.Errorf("the request line is %q", lines[0])
	}
	random := map[string]int{"X-Request-Id": 1, "Traceparent": 1, "Host": 1}
	for _, l := range lines[1:] {
		name, _, _ := strings.Cut(l, ":")
		switch {
		case random[name] > 0:
			random[name]--
		case want[l]:
			delete(want, l)
		default:
			t.Errorf("the backend got a header that it shouldn't: %q", l)
		}
	}
	for l := range want {
		t.Errorf("the backend didn't get %q in\n%s", l, head)
	}
	for name, missing := range random {
		if missing > 0 {
			t.Errorf("the backend got no %s in\n%s", name, head)
		}
	}
}

// A trailer reaches the backend after the header was judged, so it is judged too.
func TestIdentityHeadersInTrailersAreDropped(t *testing.T) {
	for _, route := range []string{"/open", "/closed"} {
		t.Run(route, func(t *testing.T) {
			backend, bodies := newBodyBackend(t)
			s := start(t, backend.Addr().String(), spoofConfig)
			s.raw("POST " + route + " HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\n" + bearer(t, map[string]any{"sub": "ada"}) +
				"\r\nTrailer: X-User-Id, X_User_Id, X-Sum, X-Request-Id\r\nTransfer-Encoding: chunked\r\n\r\n" +
				"2\r\nab\r\n0\r\nX-User-Id: evil\r\nX_User_Id: evil\r\nX-Sum: 7\r\nX-Request-Id: evil\r\nX-Undeclared: 1\r\n\r\n")
			got := wait(t, bodies, "the body at the backend")
			if got != "2\r\nab\r\n0\r\nX-Sum: 7\r\n\r\n" {
				t.Errorf("the backend read the body %q", got)
			}
			if declared := headerLines(backend.last(t), "Trailer"); len(declared) != 1 || declared[0] != "X-Sum" {
				t.Errorf("the backend read Trailer: %q", declared)
			}
			if s.counts.get("spoof") != 1 {
				t.Errorf("counted %d spoofs", s.counts.get("spoof"))
			}
		})
	}
}

func TestNoHeaderOpensARoute(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), spoofConfig)
	for _, headers := range [][]string{
		{"X-Forwarded-Uri: /open", "X-Original-URL: /open", "X-Rewrite-URL: /open", "X-HTTP-Method-Override: OPTIONS"},
		{"User-Agent: GoogleHC/1.0"},
		{"User-Agent: kube-probe/1.30"},
		{"X-User-Id: ada", "X-User-Scopes: app"},
	} {
		if got := s.get("/closed", headers...); got.StatusCode != 401 {
			t.Errorf("%v opened the route: %d", headers, got.StatusCode)
		}
	}
	if seen := backend.seen(); len(seen) != 0 {
		t.Errorf("the backend saw %q", seen)
	}
}

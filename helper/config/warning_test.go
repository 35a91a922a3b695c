package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWarnings(t *testing.T) {
	// quiet has nothing to warn of; routes are put behind it.
	const quiet = "auth: {providers: {id: {issuer: https://id.example.com, algorithms: [RS256], public_key_file: id.pem}}}\n" +
		"upstreams: {o: {url: http://o:1, limit: {rate: 10/s}}}\nroutes:\n- {path: /order, upstream: o}\n"
	upstream := func(keys string) string {
		return "upstreams: {o: {url: http://o:1, limit: {rate: 10/s}, route: {auth: none}, " + keys + "}}"
	}
	open := func(keys string) string {
		return upstream("") + "\nroutes: [{path: /r, upstream: o, auth: none, " + keys + "}]"
	}
	trusting := func(proxies string) string {
		return "server: {trusted_proxies: [" + proxies + "]}\n" + upstream("")
	}
	tests := []struct{ name, text, want string }{
		{"a route with auth and a limit somewhere", quiet, ""},
		{"an open route that doesn't say so", "upstreams: {o: {url: http://o:1, limit: {rate: 1/s}, route: {path: /a}}}",
			"1:54: upstreams.o.route.auth: warning: the route is open"},
		{"and one that does", upstream(""), ""},
		{"a star in a path", strings.Replace(open("methods: [GET]"), "/r", "/r/*", 1), "routes[0].path: warning: a * stands for itself"},
		{"a name in braces in a path", strings.Replace(open("methods: [GET]"), "path: /r", "path: '/users/{id}/admin'", 1),
			"routes[0].path: warning: {id} stands for itself alone: /a takes /a and every path below it"},
		{"a name behind a colon", strings.Replace(open("methods: [GET]"), "path: /r", "path: '= /u/:id'", 1), "routes[0].path: warning: :id stands for itself alone"},
		{"a name in a part of a segment", strings.Replace(open("methods: [GET]"), "path: /r", "path: '/f-{id}.json'", 1), "routes[0].path: warning: f-{id}.json stands for itself"},
		{"a colon inside of a segment", strings.Replace(open("methods: [GET]"), "path: /r", "path: '/orders:batch'", 1), ""},
		{"every origin", open("cors: {allowed_origins: ['*']}"), "2:71: routes[0].cors.allowed_origins[0]: warning: every site's pages"},
		{"every subdomain, with the user's cookies", open("cors: {allowed_origins: ['https://*.a.com'], allow_credentials: true}"),
			"routes[0].cors.allowed_origins[0]: warning: every host below"},
		{"every subdomain without them", open("cors: {allowed_origins: ['https://*.a.com']}"), ""},
		{"no limit anywhere", "upstreams: {o: {url: http://o:1, route: {auth: none}}}", "1:1: routes: warning: nothing limits"},
		{"a route's limit is one", "upstreams: {o: {url: http://o:1, route: {auth: none, limit: {rate: 1/s}}}}", ""},
		{"an upstream without a request timeout", upstream("timeouts: {request: 0s}"), "upstreams.o.timeouts.request: warning: a request may last for ever"},
		{"a route without one", open("timeout: 0s"), "routes[0].timeout: warning: a request may last for ever"},
		{"a plain HTTP issuer", strings.Replace(quiet, "https://id", "http://id", 1), `1:33: auth.providers.id.issuer: warning: "http://id.example.com" is plain HTTP`},
		{"a plain HTTP issuer on this machine", strings.Replace(quiet, "https://id.example.com", "http://127.0.0.1:9003", 1), ""},
		{"or by its name", strings.Replace(quiet, "https://id.example.com", "http://localhost:9003", 1), ""},
		{"or an issuer that isn't a URL", strings.Replace(quiet, "https://id.example.com", "identity", 1), ""},
		{"certificates that aren't checked", upstream("tls: {insecure_skip_verify: true}"), "upstreams.o.tls.insecure_skip_verify: warning: anybody"},
		{"everybody is a trusted proxy", trusting("0.0.0.0/0, '::/0'"), `1:28: server.trusted_proxies[0]: warning: "0.0.0.0/0" takes in strangers|1:39: server.trusted_proxies[1]: warning: "::/0" takes in`},
		{"in two halves", trusting("0.0.0.0/1, 128.0.0.0/1"), "trusted_proxies[0]: warning|trusted_proxies[1]: warning"},
		{"all of the public IPv6, and IPv4 written as IPv6", trusting("'2000::/3', '::ffff:0:0/96'"), "trusted_proxies[0]: warning|trusted_proxies[1]: warning"},
		{"the private networks", trusting("10.0.0.0/8, 172.16.0.0/12, 127.0.0.1, 'fc00::/7', '::1', '::ffff:10.0.0.0/104'"), ""},
		{"two warnings come in the file's order", "upstreams: {o: {url: http://o:1, timeouts: {request: 0s}, route: {path: /a}}}",
			"1:1: routes: warning: nothing limits|1:54: upstreams.o.timeouts.request: |1:59: upstreams.o.route.auth: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { expectWarnings(t, test.text, test.want) })
	}
}

func TestRouteWarnings(t *testing.T) {
	const head = "auth: {providers: {id: {issuer: https://id.example.com, algorithms: [RS256], public_key_file: id.pem}}}\n" +
		"upstreams: {o: {url: http://o:1, limit: {rate: 10/s}}}\nroutes:\n"
	tests := []struct{ name, routes, want string }{
		{"a pattern takes what a later value asks for", "- {name: a, path: /a, headers: {X-V: '~^2'}}\n- {name: b, path: /a, headers: {x-v: '21'}}",
			"5:3: routes[1]: warning: never gets a request, since what it asks for is taken by routes[0]"},
		{"the other way round both get some", "- {name: b, path: /a, headers: {x-v: '21'}}\n- {name: a, path: /a, headers: {X-V: '~^2'}}", ""},
		{"a value that the pattern doesn't match", "- {name: a, path: /a, headers: {X-V: '~^2'}}\n- {name: b, path: /a, headers: {X-V: '1'}}", ""},
		{"another path", "- {name: a, path: /a, headers: {X-V: '~^2'}}\n- {name: b, path: /a/b, headers: {X-V: '2'}}", ""},
		{"more conditions win, wherever they stand", "- {name: a, path: /a, headers: {X-V: '~^2'}}\n- {name: b, path: /a, headers: {X-V: '2', X-W: '1'}}", ""},
		{"two routes that take it together", "- {name: a, path: /a, methods: [GET], headers: {X-V: '~2'}}\n- {name: b, path: /a, methods: [PUT], headers: {X-V: '~2'}}\n" +
			"- {name: c, path: /a, methods: [GET, PUT], headers: {X-V: '2'}}", "routes[2]: warning: never gets a request, since what it asks for is taken by routes[0], routes[1]"},
		{"one of two methods is left", "- {name: a, path: /a, methods: [GET], headers: {X-V: '~2'}}\n- {name: c, path: /a, methods: [GET, PUT], headers: {X-V: '2'}}", ""},
		{"an open catch-all behind a route for GET", "- {path: /, auth: none}\n- {path: /order, methods: [GET]}",
			"5:31: routes[1].methods: warning: POST of this path is left to routes[0], which is open"},
		{"a closed catch-all", "- {path: /}\n- {path: /order, methods: [GET]}", ""},
		{"a closed route for the rest between them", "- {path: /, auth: none}\n- {name: read, path: /order, methods: [GET], scopes: [r]}\n- {path: /order}", ""},
		{"an open route with another path", "- {path: /public, auth: none}\n- {path: /order, methods: [GET]}", ""},
		{"an open catch-all of another host", "- {path: /, auth: none, hosts: [a.com]}\n- {path: /order, methods: [GET], hosts: [b.com]}", ""},
		{"an open catch-all of one host", "- {path: /, auth: none, hosts: ['*.a.com']}\n- {path: /order, methods: [GET]}", "routes[1].methods: warning: POST"},
		{"the same path, open for another method", "- {name: w, path: /order, methods: [DELETE], auth: none}\n- {path: = /order, methods: [GET, POST, PUT, PATCH]}",
			"routes[1].methods: warning: DELETE of this path is left to routes[0]"},
		{"a final slash leaves the path without it to an open catch-all", "- {path: /, auth: none}\n- {path: /admin/}",
			`5:23: routes[1].path: warning: "/admin", without the slash, is left to routes[0], which is open`},
		{"also where the route is for a host and a method", "- {path: /, auth: none}\n- {path: /admin/, hosts: [a.com], methods: [GET]}\n- {name: rest, path: /admin/, hosts: [a.com]}",
			`routes[1].path: warning: "/admin"|routes[2].path: warning: "/admin"`},
		{"a closed catch-all takes it", "- {path: /}\n- {path: /admin/}", ""},
		{"nobody takes it", "- {path: /public, auth: none}\n- {path: /admin/}", ""},
		{"a closed route takes it", "- {path: /, auth: none}\n- {path: /admin/}\n- {path: = /admin}", ""},
		{"an open route takes it, and is for it alone", "- {path: /admin, auth: none}\n- {path: /admin/}", ""},
		{"an exact path means itself", "- {path: /, auth: none}\n- {path: = /admin/}", ""},
		{"a path without the slash takes both", "- {path: /, auth: none}\n- {path: /admin}", ""},
		{"a path with and without the slash are two routes", "- {path: /order}\n- {path: /order/}", ""},
		{"an open route may fall through to an open one", "- {path: /, auth: none}\n- {path: /order, methods: [GET], auth: none}", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expectWarnings(t, head+strings.ReplaceAll(test.routes, "path:", "upstream: o, path:")+"\n", test.want)
		})
	}
}

// expectWarnings compares the warnings of a config with what they contain, between |.
func expectWarnings(t *testing.T, text, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := Review(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	wanted := strings.Split(want, "|")
	if want == "" {
		wanted = nil
	}
	if len(warnings) != len(wanted) {
		t.Fatalf("got %d: %v, want %d", len(warnings), warnings, len(wanted))
	}
	for i, warning := range warnings {
		if !strings.Contains(warning.String(), wanted[i]) {
			t.Errorf("got\n%s\nwant\n%s", warning, wanted[i])
		}
	}
}

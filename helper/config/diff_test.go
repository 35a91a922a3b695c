package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func parsed(t testing.TB, text string) *Config {
	t.Helper()
	c, err := Parse("config.yaml", []byte(text), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// brief is the changes in one line, without what was kept.
func brief(c Changes) string {
	var words []string
	for _, list := range []struct {
		sign  string
		parts []Part
	}{{"+", c.Added}, {"~", c.Changed}, {"-", c.Removed}} {
		for _, part := range list.parts {
			words = append(words, list.sign+part.String())
			if len(part.Keys) > 0 {
				words = append(words, "("+strings.Join(part.Keys, " ")+")")
			}
		}
	}
	for _, key := range c.Settings {
		words = append(words, "set "+key)
	}
	for _, key := range c.Restart {
		words = append(words, "restart "+key)
	}
	return strings.Join(words, " ")
}

func TestDiff(t *testing.T) {
	const user = "  user: {url: http://user:8080, route: {}}\n"
	with := func(text string) string {
		return "upstreams:\n  order: {url: http://order:8080, route: {}}\n" + text
	}
	base := with("")
	tests := []struct{ name, before, after, want string }{
		{"the same file changes nothing", base, base, ""},
		{"nor does one that means the same", base, smallest, ""},
		{"nor does a default that is written out", base, with("log: {level: info}\nserver: {listen: ':8080'}\n"), ""},
		{"nor does an empty list for none", base, with("auth: {api_keys: {keys: []}}\nserver: {trusted_proxies: []}\n"), ""},
		{"an upstream is added with its route", base, with(user), "+upstream user +route /user"},
		{"and removed again", with(user), base, "-upstream user -route /user"},
		{"a breaker's key is named", base, "upstreams: {order: {url: http://order:8080, route: {}, breaker: {failures: 9}}}", "~upstream order (breaker.failures)"},
		{"another backend is another list", base, "upstreams: {order: {url: http://order:8081, route: {}}}", "~upstream order (backends)"},
		{"what a route inherits changes the route", base, "upstreams: {order: {url: http://order:8080, route: {}, timeouts: {request: 5s}}}",
			"~upstream order (timeouts.request) ~route /order (timeout)"},
		{"a route with another path is another route", base, "upstreams: {order: {url: http://order:8080, route: {path: /orders}}}", "+route /orders -route /order"},
		{"unless it has a name", "upstreams: {order: {url: http://o:1}}\nroutes: [{name: o, upstream: order, path: /a}]",
			"upstreams: {order: {url: http://o:1}}\nroutes: [{name: o, upstream: order, path: /b}]", "~route o (path)"},
		{"the order of routes means nothing", "upstreams: {o: {url: http://o:1}}\nroutes: [{upstream: o, path: /a}, {upstream: o, path: /b}]",
			"upstreams: {o: {url: http://o:1}}\nroutes: [{upstream: o, path: /b}, {upstream: o, path: /a}]", ""},
		{"a provider closes the routes", base, smallest + identity, "+provider identity ~route /order (auth scopes)"},
		{"a secret that changes is not told", smallest + "auth: {providers: {p: {issuer: i, algorithms: [HS256], secret: " + strings.Repeat("a", 32) + "}}}",
			smallest + "auth: {providers: {p: {issuer: i, algorithms: [HS256], secret: " + strings.Repeat("b", 32) + "}}}", "~provider p (secret)"},
		{"settings are applied", base, with("log: {level: debug, access: {sample: 0.5}}\nserver: {trusted_proxies: [10.0.0.0/8]}\n"),
			"set server.trusted_proxies set log.level set log.access.sample"},
		{"listeners, the log's output and metrics need a restart", base,
			with("server: {listen: ':80', admin: ':81', drain: {delay: 1s}}\nlog: {output: stderr, rotate: {max_backups: 1}}\nmetrics: {buckets: [1]}\n"),
			"restart server.listen restart server.admin restart server.drain.delay restart log.output restart log.rotate.max_backups restart metrics.buckets"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			changes := Diff(parsed(t, test.before), parsed(t, test.after))
			if got := brief(changes); got != test.want || changes.None() != (test.want == "") {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestDiffListsWhatIsKept(t *testing.T) {
	c := Diff(parsed(t, smallest+identity), parsed(t, smallest+identity))
	if got := fmt.Sprint(c.Kept); got != "[upstream order route /order provider identity]" {
		t.Errorf("got %s", got)
	}
	if text, err := json.Marshal(c); err != nil || strings.Contains(string(text), "null") {
		t.Errorf("got %s (%v), want lists everywhere", text, err)
	}
}

// A key that is renamed would otherwise need no restart any more, in silence.
func TestRestartKeysExist(t *testing.T) {
	known := leafKeys(reflect.TypeFor[Config](), "")
	for _, key := range restartKeys() {
		found := false
		for leaf := range known {
			found = found || leaf == key || strings.HasPrefix(leaf, key+".")
		}
		if !found {
			t.Errorf("%s is not a key", key)
		}
	}
}

func BenchmarkDiffOfTenThousandRoutes(b *testing.B) {
	var text strings.Builder
	text.WriteString("upstreams: {order: {url: http://order:8080}}\nroutes:\n")
	for i := range 10000 {
		fmt.Fprintf(&text, "- {path: /%d, upstream: order, methods: [GET]}\n", i)
	}
	before, after := parsed(b, text.String()), parsed(b, text.String())
	for b.Loop() {
		if !Diff(before, after).None() {
			b.Fatal("something differs")
		}
	}
}

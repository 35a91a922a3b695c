package route_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatehouse/helper/route"
)

func newTable(t testing.TB, rules ...route.Rule) *route.Table {
	t.Helper()
	table, err := route.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// rule makes a rule that is named like its path.
func rule(path string, with ...func(*route.Rule)) route.Rule {
	r := route.Rule{Name: path, Path: path}
	for _, set := range with {
		set(&r)
	}
	return r
}

func named(name string) func(*route.Rule)         { return func(r *route.Rule) { r.Name = name } }
func hosts(hosts ...string) func(*route.Rule)     { return func(r *route.Rule) { r.Hosts = hosts } }
func methods(methods ...string) func(*route.Rule) { return func(r *route.Rule) { r.Methods = methods } }
func header(name, value string) func(*route.Rule) {
	return func(r *route.Rule) {
		if r.Headers == nil {
			r.Headers = map[string]string{}
		}
		r.Headers[name] = value
	}
}

func TestMatch(t *testing.T) {
	const noMatch = ""
	rows := []struct {
		sentence string
		rules    []route.Rule
		request  string // method, host and path
		header   http.Header
		want     string // the rule's name, or the methods of a 405
	}{
		{"a prefix matches itself", []route.Rule{rule("/order")}, "GET h /order", nil, "/order"},
		{"a prefix matches what is below it", []route.Rule{rule("/order")}, "GET h /order/42", nil, "/order"},
		{"a prefix matches itself with a slash", []route.Rule{rule("/order")}, "GET h /order/", nil, "/order"},
		{"a prefix ends at a segment", []route.Rule{rule("/order")}, "GET h /orders", nil, noMatch},
		{"a parameter makes another segment", []route.Rule{rule("/order")}, "GET h /order;v=1", nil, noMatch},
		{"a prefix is case-sensitive", []route.Rule{rule("/order")}, "GET h /Order", nil, noMatch},
		{"an escape doesn't make another path", []route.Rule{rule("/"), rule("/order")}, "GET h /%6Frder/1", nil, "/order"},
		{"an escape is decoded once", []route.Rule{rule("/"), rule("/order")}, "GET h /%256frder", nil, "/"},
		{"an escape in a rule is one too", []route.Rule{rule("/"), rule("/%61b")}, "GET h /ab", nil, "/%61b"},
		{"an encoded slash is no slash", []route.Rule{rule("/"), rule("/a/b")}, "GET h /a%2fb", nil, "/"},
		{"a prefix is no suffix", []route.Rule{rule("/order")}, "GET h /v1/order", nil, noMatch},
		{"P-09: a prefix isn't followed by dots", []route.Rule{rule("/api")}, "GET h /api../admin", nil, noMatch},
		{"P-04: an encoded slash doesn't end a segment", []route.Rule{rule("/orders")}, "GET h /orders/a%2Fb", nil, "/orders"},
		{"a longer rule doesn't hide a shorter one", []route.Rule{rule("/a"), rule("/a/b/c")}, "GET h /a/b", nil, "/a"},
		{"the root matches everything", []route.Rule{rule("/")}, "GET h /order/42", nil, "/"},
		{"the root matches itself", []route.Rule{rule("/")}, "GET h /", nil, "/"},
		{"the exact root matches nothing else", []route.Rule{rule("= /")}, "GET h /a", nil, noMatch},
		{"an asterisk matches nothing", []route.Rule{rule("/")}, "OPTIONS h *", nil, noMatch},
		{"no rules match nothing", nil, "GET h /", nil, noMatch},
		{"a prefix with a slash matches what is below it", []route.Rule{rule("/order/")}, "GET h /order/42", nil, "/order/"},
		{"a prefix with a slash matches itself", []route.Rule{rule("/order/")}, "GET h /order/", nil, "/order/"},
		{"a prefix with a slash needs the slash", []route.Rule{rule("/order/")}, "GET h /order", nil, noMatch},
		{"an exact path matches itself", []route.Rule{rule("= /a/b")}, "GET h /a/b", nil, "= /a/b"},
		{"an exact path has no slash behind it", []route.Rule{rule("= /a/b")}, "GET h /a/b/", nil, noMatch},
		{"an exact path has nothing below it", []route.Rule{rule("= /a/b")}, "GET h /a/b/c", nil, noMatch},
		{"an exact path can end in a slash", []route.Rule{rule("= /a/"), rule("/a/")}, "GET h /a/", nil, "= /a/"},

		{"exact beats prefix", []route.Rule{rule("/a"), rule("= /a")}, "GET h /a", nil, "= /a"},
		{"longer beats shorter", []route.Rule{rule("/"), rule("/a"), rule("/a/b")}, "GET h /a/b/c", nil, "/a/b"},
		{"a final slash is longer", []route.Rule{rule("/a"), rule("/a/")}, "GET h /a/b", nil, "/a/"},
		{"a longer path beats an exact host", []route.Rule{rule("/a", hosts("h.test")), rule("/a/b")}, "GET h.test /a/b", nil, "/a/b"},
		{"an exact host beats a wildcard", []route.Rule{
			rule("/", hosts("*.test"), named("wildcard")), rule("/", hosts("a.test"), named("exact"))}, "GET a.test /", nil, "exact"},
		{"a longer wildcard beats a shorter one", []route.Rule{
			rule("/", hosts("*.test"), named("short")), rule("/", hosts("*.b.test"), named("long"))}, "GET a.b.test /", nil, "long"},
		{"a wildcard beats any host", []route.Rule{rule("/", named("any")), rule("/", hosts("*.test"), named("wildcard"))}, "GET a.test /", nil, "wildcard"},
		{"a wildcard beats more conditions", []route.Rule{
			rule("/", methods("GET"), named("any")), rule("/", hosts("*.test"), named("wildcard"))}, "GET a.test /", nil, "wildcard"},
		{"methods beat none", []route.Rule{rule("/", named("all")), rule("/", methods("GET"), named("get"))}, "GET h /", nil, "get"},
		{"two headers beat a method", []route.Rule{
			rule("/", methods("GET"), named("one")), rule("/", header("a", "1"), header("b", "1"), named("two"))},
			"GET h /", http.Header{"A": {"1"}, "B": {"1"}}, "two"},
		{"a header and methods beat a header", []route.Rule{
			rule("/", header("a", "1"), named("one")), rule("/", header("a", "1"), methods("GET", "PUT"), named("two"))},
			"GET h /", http.Header{"A": {"1"}}, "two"},
		{"the earlier of two equals wins", []route.Rule{
			rule("/", header("b", "1"), named("first")), rule("/", header("a", "1"), named("second"))},
			"GET h /", http.Header{"A": {"1"}, "B": {"1"}}, "first"},

		{"a wildcard matches several labels", []route.Rule{rule("/", hosts("*.test"))}, "GET a.b.test /", nil, "/"},
		{"a wildcard needs a label", []route.Rule{rule("/", hosts("*.test"))}, "GET test /", nil, noMatch},
		{"a wildcard ends at a label", []route.Rule{rule("/", hosts("*.good.test"))}, "GET xgood.test /", nil, noMatch},
		{"P-16: a rule's host is compared in lower case", []route.Rule{rule("/", hosts("API.Test."))}, "GET api.test /", nil, "/"},
		{"an IPv6 host matches", []route.Rule{rule("/", hosts("[::1]"))}, "GET ::1 /", nil, "/"},
		{"one of several hosts will do", []route.Rule{rule("/", hosts("a.test", "b.test"))}, "GET b.test /", nil, "/"},
		{"a route for another host falls back", []route.Rule{rule("/", named("any")), rule("/a", hosts("b.test"))}, "GET a.test /a", nil, "any"},

		{"a header's value matches", []route.Rule{rule("/", header("x-canary", "true"))}, "GET h /", http.Header{"X-Canary": {"true"}}, "/"},
		{"a header's value is compared whole", []route.Rule{rule("/", header("X-Canary", "true"))}, "GET h /", http.Header{"X-Canary": {"trues"}}, noMatch},
		{"a header that is absent isn't empty", []route.Rule{rule("/", header("X-Canary", ""))}, "GET h /", nil, noMatch},
		{"one of several lines will do", []route.Rule{rule("/", header("X-Canary", "true"))}, "GET h /", http.Header{"X-Canary": {"no", "true"}}, "/"},
		{"an expression matches", []route.Rule{rule("/", header("X-V", "~^v2"))}, "GET h /", http.Header{"X-V": {"v2.1"}}, "/"},
		{"an expression doesn't match", []route.Rule{rule("/", header("X-V", "~^v2"))}, "GET h /", http.Header{"X-V": {"v1"}}, noMatch},
		{"a canary falls back to its shorter prefix", []route.Rule{rule("/a"), rule("/a/b", header("X-Canary", "true"))}, "GET h /a/b", nil, "/a"},

		{"another method is a 405", []route.Rule{rule("/a", methods("GET"))}, "POST h /a", nil, "405 GET"},
		{"P-18: a method is case-sensitive", []route.Rule{rule("/a", methods("GET"))}, "get h /a", nil, "405 GET"},
		{"P-18: an unknown method is a 405", []route.Rule{rule("/a", methods("GET"))}, "FOO h /a", nil, "405 GET"},
		{"HEAD has to be listed", []route.Rule{rule("/a", methods("GET"))}, "HEAD h /a", nil, "405 GET"},
		{"P-18: the rule for the method wins", []route.Rule{
			rule("/a", methods("GET"), named("get")), rule("/a", methods("POST"), named("post"))}, "POST h /a", nil, "post"},
		{"a 405 names the methods of all rules, sorted and once", []route.Rule{
			rule("/a", methods("PUT", "GET")), rule("/", methods("GET", "DELETE"))}, "POST h /a", nil, "405 DELETE GET PUT"},
		{"another method falls back to a shorter prefix", []route.Rule{rule("/a", methods("GET")), rule("/")}, "POST h /a", nil, "/"},
		{"a 405 needs the headers to hold", []route.Rule{rule("/a", methods("GET"), header("X-A", "1"))}, "POST h /a", nil, noMatch},
		{"a 405 needs the host to match", []route.Rule{rule("/a", methods("GET"), hosts("b.test"))}, "POST a.test /a", nil, noMatch},
		{"P-18: TRACE is a 405 on every rule", []route.Rule{rule("/a")}, "TRACE h /a", nil, "405 DELETE GET HEAD OPTIONS PATCH POST PUT"},
		{"P-18: CONNECT is a 405 on every rule", []route.Rule{rule("/a", methods("GET"))}, "CONNECT h /a", nil, "405 GET"},
		{"an unknown method matches a rule for all", []route.Rule{rule("/a")}, "FOO h /a", nil, "/a"},

		{"P-01: dots are matched as they came", []route.Rule{rule("/public"), rule("/admin")}, "GET h /public/../admin", nil, "/public"},
		{"P-06: empty segments are matched as they came", []route.Rule{rule("/"), rule("/admin")}, "GET h //admin", nil, "/"},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			parts := strings.Fields(row.request)
			result := newTable(t, row.rules...).Match(parts[1], parts[2], parts[0], row.header)
			got := noMatch
			switch result.Status {
			case route.Found:
				got = row.rules[result.Index].Name
			case route.MethodNotAllowed:
				got = "405 " + strings.Join(result.Allowed, " ")
			}
			if got != row.want || (result.Index >= 0) != (result.Status == route.Found) {
				t.Errorf("%s: got %q (%+v), want %q", row.request, got, result, row.want)
			}
		})
	}
}

func TestMatchWithoutHost(t *testing.T) {
	table := newTable(t, rule("/", hosts("a.test")), rule("/", named("any")))
	if got := table.Match("", "/", "GET", nil); got.Index != 1 {
		t.Errorf("a request without a host got %+v, want the rule without hosts", got)
	}
}

func TestCandidatesExplainTheMatch(t *testing.T) {
	table := newTable(t,
		rule("/", named("all")),
		rule("/a", named("get"), methods("GET"), hosts("a.test", "*.test")),
		rule("/a", named("canary"), header("X-Canary", "true"), hosts("a.test")),
		rule("/b", named("elsewhere")),
		rule("/a", named("a")))
	got := table.Candidates("a.test", "/a/x", "POST", nil)
	want := []route.Candidate{
		{Index: 1, Verdict: route.OtherMethod},
		{Index: 2, Verdict: route.OtherHeaders},
		{Index: 4, Verdict: route.Wins},
		{Index: 0, Verdict: route.LessSpecific},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheTableIsSafeForConcurrentUse(t *testing.T) {
	rules := []route.Rule{rule("/a", methods("GET")), rule("/", hosts("*.test"), methods("GET"))}
	table := newTable(t, rules...)
	rules[0].Methods[0] = "POST" // the table has its own copy
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 100 {
				if got := table.Match("a.test", "/a", "GET", nil); got.Index != 0 {
					t.Errorf("got %+v", got)
				}
				if got := table.Match("a.test", "/a", "PUT", nil); !slices.Equal(got.Allowed, []string{"GET"}) {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
	wait.Wait()
}

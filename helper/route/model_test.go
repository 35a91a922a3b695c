package route_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatehouse/helper/route"
)

// The model looks at every rule, one after the other, and sorts those that match.

func modelMatch(rules []route.Rule, host, path, method string, h http.Header) route.Result {
	best, allowed := -1, map[string]bool{}
	for i, r := range rules {
		if !modelPath(r, path) || modelHost(r, host) == 0 || !modelHeaders(r, h) {
			continue
		}
		for _, m := range r.Methods {
			allowed[m] = true
		}
		if len(r.Methods) > 0 && !slices.Contains(r.Methods, method) {
			continue
		}
		if best < 0 || modelBeats(r, rules[best], host) {
			best = i
		}
	}
	if best >= 0 {
		return route.Result{Index: best, Status: route.Found}
	}
	result := route.Result{Index: -1}
	for m := range allowed {
		result.Status = route.MethodNotAllowed
		result.Allowed = append(result.Allowed, m)
	}
	slices.Sort(result.Allowed)
	return result
}

func modelPath(r route.Rule, path string) bool {
	exact, isExact := strings.CutPrefix(r.Path, "= ")
	switch {
	case isExact:
		return path == exact
	case strings.HasSuffix(r.Path, "/"):
		return strings.HasPrefix(path, r.Path)
	default:
		return path == r.Path || strings.HasPrefix(path, r.Path+"/")
	}
}

// modelHost is 0 for no match, 1 for any host, 2 and more for a wildcard by its length, and most for an exact host.
func modelHost(r route.Rule, host string) int {
	rank := 0
	if len(r.Hosts) == 0 {
		rank = 1
	}
	for _, h := range r.Hosts {
		suffix, wildcard := strings.CutPrefix(h, "*")
		if wildcard && strings.HasSuffix(host, suffix) {
			rank = max(rank, len(h))
		} else if host == h {
			rank = 1000
		}
	}
	return rank
}

func modelHeaders(r route.Rule, h http.Header) bool {
	for name, want := range r.Headers {
		expression, isExpression := strings.CutPrefix(want, "~")
		if !slices.ContainsFunc(h.Values(name), func(value string) bool {
			return !isExpression && value == want || isExpression && regexp.MustCompile(expression).MatchString(value)
		}) {
			return false
		}
	}
	return true
}

// modelBeats says that a, the later rule, is more specific than b.
func modelBeats(a, b route.Rule, host string) bool {
	exact := func(r route.Rule) int { return strings.Count(r.Path, "= ") }
	conditions := func(r route.Rule) int { return len(r.Headers) + min(len(r.Methods), 1) }
	return cmp.Or(
		cmp.Compare(exact(a), exact(b)),
		cmp.Compare(len(a.Path), len(b.Path)),
		cmp.Compare(modelHost(a, host), modelHost(b, host)),
		cmp.Compare(conditions(a), conditions(b)),
	) > 0
}

// The vocabulary is small, so that rules meet each other and the requests.

func pick(random *rand.Rand, list ...string) string { return list[random.IntN(len(list))] }

func pickSome(random *rand.Rand, list ...string) []string {
	return slices.DeleteFunc(list, func(string) bool { return random.IntN(3) > 0 })
}

func randomPath(random *rand.Rand) string {
	path := ""
	for range random.IntN(4) {
		path += "/" + pick(random, "a", "b", "ab", "a;b", "a%2eb")
	}
	if path == "" || random.IntN(4) == 0 {
		path += "/"
	}
	return path
}

func randomRules(random *rand.Rand) []route.Rule {
	var rules []route.Rule
	for range random.IntN(12) {
		r := route.Rule{
			Path:    pick(random, "", "", "= ") + randomPath(random),
			Hosts:   pickSome(random, "a.test", "*.test", "b.a.test", "*.a.test"),
			Methods: pickSome(random, "GET", "PUT", "POST"),
		}
		for _, name := range pickSome(random, "X-A", "X-B") {
			header(name, pick(random, "1", "2", "~^[12]"))(&r)
		}
		rules = append(rules, r)
	}
	return rules
}

// acceptable leaves out the rules that New refuses as conflicts.
func acceptable(t *testing.T, rules []route.Rule) ([]route.Rule, *route.Table) {
	for {
		table, err := route.New(rules)
		var refused *route.RuleError
		if err == nil {
			return rules, table
		}
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "can't be told apart") {
			t.Fatal(err)
		}
		rules = slices.Delete(rules, refused.Index, refused.Index+1)
	}
}

func compareWithModel(t *testing.T, seed uint64) (statuses [3]int) {
	random := rand.New(rand.NewPCG(seed, 0))
	rules, table := acceptable(t, randomRules(random))
	for range 50 {
		host := pick(random, "", "test", "a.test", "b.a.test", "c.b.a.test", "xa.test", "other")
		path, method := randomPath(random), pick(random, "GET", "PUT", "POST", "get")
		h := http.Header{}
		for _, name := range pickSome(random, "X-A", "X-A", "X-B") {
			h.Add(name, pick(random, "1", "2", "3"))
		}
		got, want := table.Match(host, path, method, h), modelMatch(rules, host, path, method, h)
		if got.Index != want.Index || got.Status != want.Status || !slices.Equal(got.Allowed, want.Allowed) {
			t.Fatalf("%s %q %s %v: got %+v, want %+v of\n%+v", method, host, path, h, got, want, rules)
		}
		if first := firstWinner(table.Candidates(host, path, method, h)); first != want.Index {
			t.Fatalf("%s %q %s %v: the candidates say %d, want %d", method, host, path, h, first, want.Index)
		}
		statuses[got.Status]++
	}
	return statuses
}

func firstWinner(candidates []route.Candidate) int {
	for _, c := range candidates {
		if c.Verdict == route.Wins {
			return c.Index
		}
	}
	return -1
}

func TestTheTableAgreesWithALinearScan(t *testing.T) {
	var total [3]int
	for seed := range uint64(2000) {
		for status, n := range compareWithModel(t, seed) {
			total[status] += n
		}
	}
	for status, n := range total {
		if n < 1000 {
			t.Errorf("status %d came out only %d times: the vocabulary is badly chosen", status, n)
		}
	}
}

// FuzzMatch lets the fuzzer choose the path and the host against fixed rules; they are raw bytes of a client.
func FuzzMatch(f *testing.F) {
	rules := []route.Rule{
		rule("/a"), rule("/a/"), rule("= /a/b"), rule("/a/b"), rule("/a/b/c", methods("GET")), rule("= /"),
		rule("/x", hosts("a.test")), rule("/x", hosts("*.test")), rule("/x", hosts("*.a.test"), methods("GET")),
	}
	table := newTable(f, rules...)
	for _, path := range []string{"/", "", "*", "/a", "/a/", "/a/b", "/a/b/", "/a/b/c/d", "//a", "/a//b", "/x", "/a/../b", "/a%2fb", "/a;b"} {
		f.Add("a.test", path, "GET")
	}
	f.Add("b.a.test", "/x/y", "PUT")
	f.Fuzz(func(t *testing.T, host, path, method string) {
		if method == "CONNECT" || method == "TRACE" {
			return // the model doesn't know them
		}
		got, want := table.Match(host, path, method, nil), modelMatch(rules, host, path, method, nil)
		if got.Index != want.Index || got.Status != want.Status || !slices.Equal(got.Allowed, want.Allowed) {
			t.Fatalf("%s %q %q: got %+v, want %+v", method, host, path, got, want)
		}
	})
}

package route_test

import (
	"errors"
	"strings"
	"testing"

	"gatehouse/helper/route"
)

func TestNewRefusesWhatCanNeverMatch(t *testing.T) {
	unusual := func(r *route.Rule) { r.AllowUnusualPath = true }
	rows := []struct {
		sentence string
		rule     route.Rule
		want     string // "" where it is taken
	}{
		{"a path may hold an escape", rule("/a%20b"), ""},
		{"an unusual path is refused", rule("/a/../b"), "dot segment"},
		{"an unusual path is taken where the rule allows it", rule("/a//b", unusual), ""},
		{"a path needs a slash", rule("order"), "doesn't begin with a slash"},
		{"a path is needed", rule(""), "doesn't begin with a slash"},
		{"an exact path needs a space after the sign", rule("=/a"), "doesn't begin with a slash"},
		{"an exact path needs a path", rule("= "), "doesn't begin with a slash"},
		{"a path holds no query", rule("/a?b"), "must be percent-encoded"},
		{"a path holds no wildcard's space", rule("/a /b"), "must be percent-encoded"},

		{"a host has no port", rule("/", hosts("a.test:80")), `host "a.test:80" is neither`},
		{"an IPv6 host has brackets", rule("/", hosts("::1")), `host "::1" is neither`},
		{"a wildcard stands at the start", rule("/", hosts("a.*.test")), `host "a.*.test" is neither`},
		{"a wildcard is a whole label", rule("/", hosts("*a.test")), `host "*a.test" is neither`},
		{"a wildcard alone is no host", rule("/", hosts("*")), `host "*" is neither`},
		{"a wildcard needs a name", rule("/", hosts("*.")), `host "*." is neither`},
		{"a wildcard over an address is no host", rule("/", hosts("*.[::1]")), `host "*.[::1]" is neither`},
		{"a host is named once", rule("/", hosts("a.test", "A.test.")), `host "A.test." is named twice`},

		{"a method is a token", rule("/", methods("GET POST")), `method "GET POST" isn't a token`},
		{"an empty method is no token", rule("/", methods("")), `method "" isn't a token`},
		{"TRACE can't be a rule's", rule("/", methods("TRACE")), "method TRACE is refused"},
		{"a method is named once", rule("/", methods("GET", "GET")), "method GET is named twice"},
		{"a method of one's own is taken", rule("/", methods("PURGE")), ""},

		{"a header has a name", rule("/", header("", "x")), `header "" isn't a field name`},
		{"a header's name is a token", rule("/", header("X A", "x")), `header "X A" isn't a field name`},
		{"a header is named once", rule("/", header("x-a", "1"), header("X-A", "2")), "header X-A is named twice"},
		{"Host is no header", rule("/", header("host", "a.test")), "use hosts"},
		{"an expression compiles", rule("/", header("X-A", "~(")), "header X-A: error parsing regexp"},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			_, err := route.New([]route.Rule{row.rule})
			if row.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var ruleErr *route.RuleError
			if !errors.As(err, &ruleErr) || !strings.Contains(err.Error(), row.want) || ruleErr.Name != row.rule.Name {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestNewRefusesRulesThatCannotBeToldApart(t *testing.T) {
	rows := []struct {
		sentence string
		a, b     route.Rule
		conflict bool
	}{
		{"the same path", rule("/a"), rule("/a"), true},
		{"the same host in another spelling", rule("/a", hosts("a.test")), rule("/a", hosts("A.TEST.")), true},
		{"one host of several", rule("/a", hosts("a.test", "b.test")), rule("/a", hosts("c.test", "b.test")), true},
		{"the same wildcard", rule("/a", hosts("*.test")), rule("/a", hosts("*.test")), true},
		{"one method of several", rule("/a", methods("GET", "PUT")), rule("/a", methods("PUT", "POST")), true},
		{"the same headers", rule("/a", header("x-a", "1")), rule("/a", header("X-A", "1")), true},
		{"a prefix and an exact path", rule("/a"), rule("= /a"), false},
		{"a prefix and one with a slash", rule("/a"), rule("/a/"), false},
		{"two hosts", rule("/a", hosts("a.test")), rule("/a", hosts("b.test")), false},
		{"a host and any host", rule("/a", hosts("a.test")), rule("/a"), false},
		{"a host and a wildcard over it", rule("/a", hosts("a.test")), rule("/a", hosts("*.test")), false},
		{"two methods", rule("/a", methods("GET")), rule("/a", methods("PUT")), false},
		{"a method and any method", rule("/a", methods("GET")), rule("/a"), false},
		{"two values of a header", rule("/a", header("X-A", "1")), rule("/a", header("X-A", "2")), false},
		{"a header and none", rule("/a", header("X-A", "1")), rule("/a"), false},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			row.a.Name, row.b.Name = "first", "second"
			_, err := route.New([]route.Rule{row.a, row.b})
			var ruleErr *route.RuleError
			if !row.conflict {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.As(err, &ruleErr) || ruleErr.Index != 1 || ruleErr.Name != "second" || !strings.Contains(err.Error(), `from route "first"`) {
				t.Errorf("got %v, want the second rule to be refused for the first", err)
			}
		})
	}
}

func TestNewReportsEveryProblemAtOnce(t *testing.T) {
	_, err := route.New([]route.Rule{
		rule("a", hosts("b b", "c c"), methods("D D"), named("one")),
		rule("/x", named("two")),
		rule("/x", named("three")),
		rule("/x", named("four")),
	})
	for _, want := range []string{
		`route "one": path "a"`, `host "b b"`, `host "c c"`, `method "D D"`,
		`route "three": can't be told apart from route "two": both take any method /x on any host with the same headers`,
		`route "four": can't be told apart from route "two"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
}

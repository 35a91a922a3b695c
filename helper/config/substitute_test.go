package config

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSubstitution(t *testing.T) {
	env := func(name string) (string, bool) {
		value, ok := map[string]string{
			"N": "7", "EMPTY": "", "HOST": "api.test", "YAML": "a, b]\nlog: {level: debug}", "NULL": "null", "YES": "true", "SECRET_NUMBER": "00123",
			"DOLLAR": "${N}", "PRIVATE": "\uE07B",
		}[name]
		return value, ok
	}
	output := func(scalar string) string { // where any text may stand
		return "log: {output: " + scalar + "}\n" + smallest
	}
	text := func(c *Config) any { return c.Log.Output }
	failures := func(c *Config) any { return c.Upstreams["order"].Breaker.Failures }
	tests := []struct {
		name string
		yaml string
		got  func(*Config) any
		want any
	}{
		{"a plain variable may be a number", "upstreams: {order: {url: http://a:1, route: {}, breaker: {failures: ${N}}}}", failures, 7},
		{"so may a fallback", "upstreams: {order: {url: http://a:1, route: {}, breaker: {failures: ${UNSET:-9}}}}", failures, 9},
		{"a variable in the middle", output("https://${HOST}:80${N}"), text, "https://api.test:807"},
		{"a variable in quotes", output(`"${HOST} and '${N}'"`), text, "api.test and '7'"},
		{"structure in a value stays text", output("${YAML}"), text, "a, b]\nlog: {level: debug}"},
		{"structure in a fallback stays text", output(`${UNSET:-a, b]: "c" # d}`), text, `a, b]: "c" # d`},
		{"a value isn't substituted again", output("${DOLLAR}"), text, "${N}"},
		{"an empty value takes the fallback", output("${EMPTY:-x}"), text, "x"},
		{"an empty fallback is an empty text", output("${UNSET:-}x"), text, "x"},
		{"null from the environment is a text", output("${NULL}"), text, "null"},
		{"true from the environment may be a text", output("${YES}"), text, "true"},
		{"digits from the environment stay as they are", output("${SECRET_NUMBER}"), text, "00123"},
		{"two dollars are one", output("'$${N} costs $$5'"), text, "${N} costs $5"},
		{"three dollars are one and a variable", output("$$${N}"), text, "$7"},
		{"a lone dollar is itself", output("'^a$'"), text, "^a$"},
		{"a private-use rune of the file's own stays", output("\uE000\uE07D"), text, "\uE000\uE07D"},
		{"and so does one of a value's", output("${PRIVATE}"), text, "\uE07B"},
		{"a comment is nobody's business", "# ${UNSET} ${\n" + output("a"), text, "a"},
		{"a value over several lines", output("a") + "server:\n  tests: ''\n  admin_token: |\n    ${HOST}\n    ${N}\n", func(c *Config) any { return string(c.Server.AdminToken) }, "api.test\n7\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := Parse("config.yaml", []byte(test.yaml), env)
			if err != nil {
				t.Fatal(err)
			}
			if got := test.got(c); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The columns of what stands after a variable are those of the file, and a problem names the variable, not its value.
func TestProblemsNameVariables(t *testing.T) {
	_, err := Parse("config.yaml", []byte("upstreams: {order: {url: http://order:8080, host: \"${A:-ü, b}\", hst: ${X}, route: {flush: '${X}'}}}"),
		func(string) (string, bool) { return "hunter2", true })
	const both = "config.yaml:1:65: upstreams.order.hst: is not a key: did you mean \"host\"?\n" +
		"config.yaml:1:91: upstreams.order.route.flush: the value of the environment variable X is not one of auto, always"
	if err == nil || err.Error() != both {
		t.Errorf("got\n%v\nwant\n%s", err, both)
	}
}

func FuzzSubstitute(f *testing.F) {
	for _, text := range []string{"${A}", "$${A}", "${A:-b}", "${A", "$", "${A:-${B}}", "$$$$", "${é}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return shieldBase <= r && r <= shieldBase+0x7f }) {
			return
		}
		if got := unshield(shield(text)); got != text {
			t.Errorf("unshield(shield(%q)) is %q", text, got)
		}
		name := func(string) (string, bool) { return "v", true }
		plain, _ := substitute(text, name)
		shielded, _ := substitute(unshield(shield(text)), name)
		if plain != shielded {
			t.Errorf("%q becomes %q, and shielded %q", text, plain, shielded)
		}
	})
}

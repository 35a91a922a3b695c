package config

import (
	"strings"
	"testing"
)

func unset(string) (string, bool) { return "", false }

func TestParseCases(t *testing.T) {
	cases, err := ParseCases("cases.yaml", []byte(`cases:
  - name: one
    request: {url: /order, claims: {sub: ada, level: 3, roles: [a, b]}, headers: {X-A: "${NAME:-b}"}}
    expect: {forwarded: false, limits: []}
  - name: two
    request: {method: POST, url: /order, api_key: ada, client_ip: "::1"}
    expect: {status: 401, code: api_key_invalid}
`), unset)
	if err != nil {
		t.Fatal(err)
	}
	one, two := cases[0], cases[1]
	if len(cases) != 2 || one.Line != 2 || two.Line != 5 || one.Request.Method != "GET" || one.Request.Headers["X-A"] != "b" || one.Request.Claims["level"] != 3 ||
		*one.Expect.Forwarded || one.Expect.Limits == nil || two.Expect.Forwarded != nil || two.Expect.Limits != nil || two.Expect.Status != 401 {
		t.Errorf("the cases are %+v", cases)
	}
	if got, want := two.Problem("cases.yaml", "wrong").String(), `cases.yaml:5:1: case "two": wrong`; got != want {
		t.Errorf("its problem is %q, want %q", got, want)
	}
}

func TestCasesThatAreWrong(t *testing.T) {
	request := func(keys string) string {
		return "cases: [{name: a, expect: {code: x}, request: {" + keys + "}}]"
	}
	for _, test := range []struct{ name, text, want string }{
		{"an empty file", "", "c.yaml:1:1: is empty: write cases: with one case at least"},
		{"a list", "[]", "c.yaml:1:1: must be a mapping (key: value), not a list"},
		{"no cases", "cases: []", "c.yaml:1:1: cases: is empty: write at least one case"},
		{"another key", "cases: []\ncase: []", `c.yaml:2:1: case: is not a key: did you mean "cases"?`},
		{"no name", "cases: [{request: {url: /}, expect: {code: x}}]", "c.yaml:1:9: cases[0].name: is needed: write what the case shows"},
		{"a name twice", "cases:\n- {name: a, request: {url: /}, expect: {code: x}}\n- {name: a, request: {url: /}, expect: {code: x}}", `c.yaml:3:10: cases[1].name: "a" is the name of another case: write another`},
		{"no URL", request("method: GET"), "c.yaml:1:38: cases[0].request.url: is needed: write a path such as /order/42, or a whole URL"},
		{"nothing expected", "cases: [{name: a, request: {url: /}}]", "c.yaml:1:9: cases[0].expect: is empty: write what must become of the request, such as {forwarded: true}"},
		{"forwarded and a status", "cases: [{name: a, request: {url: /}, expect: {forwarded: true, status: 200}}]", "c.yaml:1:58: cases[0].expect.forwarded: can't go with status or code: the upstream decides what it answers"},
		{"two callers", request("url: /, api_key: ada, claims: {sub: ada}"), "c.yaml:1:38: cases[0].request: has several of claims, api_key and token: write one"},
		{"an address that is none", request("url: /, client_ip: here"), `c.yaml:1:67: cases[0].request.client_ip: "here" is not an address: write one such as 203.0.113.7`},
		{"a header that is none", request("url: /, headers: {X A: b}"), `c.yaml:1:71: cases[0].request.headers.X A: "X A" is not a header's name`},
		{"a claim that is an object", request("url: /, claims: {a: {b: c}}"), "c.yaml:1:65: cases[0].request.claims.a: must be a text, a number, true or false, or a list of these, not a mapping"},
		{"a line of its own making", "cases: [{name: a, line: 5, request: {url: /}, expect: {code: x}}]", "c.yaml:1:19: cases[0].line: is not a key"},
		{"a status that is a text", "cases: [{name: a, request: {url: /}, expect: {status: fine}}]", `c.yaml:1:55: cases[0].expect.status: "fine" is not a whole number: write it in plain digits, such as 5`},
		{"a variable that isn't set", request("url: \"${NAME}\""), "NAME"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseCases("c.yaml", []byte(test.text), unset)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
		})
	}
	if _, err := LoadCases("none.yaml", unset); err == nil || !strings.Contains(err.Error(), "none.yaml: can't be read") {
		t.Errorf("a file that isn't there: %v", err)
	}
}

func FuzzParseCases(f *testing.F) {
	for _, seed := range []string{"", "cases: []", "cases: [{name: a, request: {url: /}, expect: {code: x}}]", "cases: [{name: a, request: {url: /, claims: {a: [1]}}, expect: {limits: []}}]", "cases: {a: b}", "cases: [[]]", "&a [*a]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cases, err := ParseCases("c.yaml", []byte(text), unset)
		for _, c := range cases {
			if c.Name == "" || c.Request.URL == "" || c.Line < 1 || err != nil {
				t.Errorf("case %+v, %v", c, err)
			}
		}
	})
}

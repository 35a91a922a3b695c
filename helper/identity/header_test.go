package identity_test

import (
	"encoding/json"
	"testing"

	"gatehouse/helper/identity"
)

func TestAClaimBecomesAHeader(t *testing.T) {
	claims := decode(t, `{
		"id": 12345678901234567, "float": 1.50, "ok": true, "name": "ada", "empty": "", "none": null, "percent": "100%",
		"roles": ["a","b"], "mixed": ["a",1,false], "commas": ["a,b","c"], "edges": [" a "], "no_roles": [],
		"nested": {"b":"<x>","a":[1]}, "objects": [{"a":1}], "holes": ["a",null],
		"injection": "a\r\nX-Admin: 1", "nul": "a\u0000b", "umlaut": "Zoë", "del": "a\u007f", "tab": "a\tb",
		"spaces": " ada lovelace ", "space": " "}`)
	for claim, want := range map[string]string{
		"id": "12345678901234567", "float": "1.50", "ok": "true", "name": "ada", "empty": "", "percent": "100%",
		"roles": "a,b", "mixed": "a,1,false", "commas": "a%2Cb,c", "edges": "%20a%20", "no_roles": "",
		"nested": `{"a":[1],"b":"<x>"}`, "objects": `[{"a":1}]`, "holes": `["a",null]`,
		"injection": "a%0D%0AX-Admin: 1", "nul": "a%00b", "umlaut": "Zo%C3%AB", "del": "a%7F", "tab": "a%09b",
		"spaces": "%20ada lovelace%20", "space": "%20",
	} {
		if got, ok := identity.HeaderValue(claims[claim]); !ok || got != want {
			t.Errorf("HeaderValue(%s) = %q, %v, want %q", claim, got, ok, want)
		}
	}
	for _, claim := range []string{"none", "missing"} {
		if got, ok := identity.HeaderValue(claims[claim]); ok {
			t.Errorf("HeaderValue(%s) = %q, want none", claim, got)
		}
	}
}

func FuzzHeaderValue(f *testing.F) {
	for _, seed := range []string{`"a\r\nb"`, `[" ","a,b"]`, `{"a":[1,2,{"é":"\u0000"}]}`, `1e400`, `null`, `[[]]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var claim any
		if json.Unmarshal(text, &claim) != nil {
			return
		}
		value, ok := identity.HeaderValue(claim)
		if !ok {
			return
		}
		for _, c := range []byte(value) {
			if c < ' ' || c >= 0x7f {
				t.Errorf("HeaderValue(%s) = %q has the byte %#x, which a header can't have", text, value, c)
			}
		}
		if value != "" && (value[0] == ' ' || value[len(value)-1] == ' ') {
			t.Errorf("HeaderValue(%s) = %q loses a space on the wire", text, value)
		}
	})
}

package identity_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gatehouse/helper/identity"
)

// decode decodes claims as a token's are.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var claims map[string]any
	if err := decoder.Decode(&claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestAClaimIsFoundByItsPath(t *testing.T) {
	claims := decode(t, `{"scope":"a","https://x.io/scopes":"b","realm_access":{"roles":["c"],"x.y":"d"},"a.b":"e","a":{"b":"f","c":null}}`)
	for path, want := range map[string]any{
		"scope":               "a",
		"https://x.io/scopes": "b",
		"realm_access.roles":  []any{"c"},
		"realm_access.x.y":    "d",
		"a.b":                 "e",
		"a.c":                 nil,
	} {
		if got, ok := identity.Claim(claims, path); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("Claim(%s) = %v, %v", path, got, ok)
		}
	}
	for _, path := range []string{"", ".", "scp", "scope.a", "realm_access.", "realm_access.roles.0", "a.b.c", ".scope"} {
		if got, ok := identity.Claim(claims, path); ok {
			t.Errorf("Claim(%q) = %v, want none", path, got)
		}
	}
}

func TestClaimsMatchByValueAndType(t *testing.T) {
	const claims = `{"tenant":"acme","level":3,"big":12345678901234567,"staff":true,"groups":["x","y"],"nested":{"id":7},"huge":1e400,"nothing":null}`
	for name, row := range map[string]struct {
		wanted map[string]any
		want   string // the claim that doesn't match
	}{
		"nothing is asked":                      {nil, ""},
		"an equal string":                       {map[string]any{"tenant": "acme"}, ""},
		"one of several":                        {map[string]any{"tenant": []any{"globex", "acme"}}, ""},
		"none of several":                       {map[string]any{"tenant": []any{"globex", "Acme"}}, "tenant"},
		"an equal number":                       {map[string]any{"level": 3}, ""},
		"an equal number written otherwise":     {map[string]any{"level": 3.0}, ""},
		"a string isn't a number":               {map[string]any{"level": "3"}, "level"},
		"a big number":                          {map[string]any{"big": 12345678901234567}, ""},
		"a big number that differs by one":      {map[string]any{"big": 12345678901234568}, "big"},
		"a boolean":                             {map[string]any{"staff": true}, ""},
		"another boolean":                       {map[string]any{"staff": false}, "staff"},
		"one element of an array":               {map[string]any{"groups": "y"}, ""},
		"no element of an array":                {map[string]any{"groups": "z"}, "groups"},
		"a nested claim":                        {map[string]any{"nested.id": int64(7)}, ""},
		"an object matches nothing":             {map[string]any{"nested": "id"}, "nested"},
		"a number out of range":                 {map[string]any{"huge": 1e308}, "huge"},
		"null matches nothing":                  {map[string]any{"nothing": ""}, "nothing"},
		"a missing claim":                       {map[string]any{"missing": ""}, "missing"},
		"all must match, the first is reported": {map[string]any{"zone": 1, "tenant": "acme", "area": 1}, "area"},
	} {
		t.Run(name, func(t *testing.T) {
			requirement, err := identity.CompileClaims(row.wanted)
			if err != nil {
				t.Fatal(err)
			}
			if got := requirement.Mismatch(decode(t, claims)); got != row.want {
				t.Errorf("Mismatch = %q, want %q", got, row.want)
			}
		})
	}
}

func TestClaimsThatCantBeComparedAreRefused(t *testing.T) {
	for name, wanted := range map[string]map[string]any{
		"no value":        {"tenant": nil},
		"no name":         {"": "acme"},
		"an empty list":   {"tenant": []any{}},
		"an object":       {"tenant": map[string]any{"id": 1}},
		"a list of lists": {"tenant": []any{[]any{"acme"}}},
	} {
		if _, err := identity.CompileClaims(wanted); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

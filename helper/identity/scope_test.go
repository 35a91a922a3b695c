package identity_test

import (
	"reflect"
	"testing"

	"gatehouse/helper/identity"
)

func TestScopesAreReadFromEveryShapeOfClaim(t *testing.T) {
	for name, row := range map[string]struct {
		claim any
		want  []string
	}{
		"a string split at a space":                 {"a orders:read", []string{"a", "orders:read"}},
		"a string with several spaces and one more": {"a  orders:read ", []string{"a", "orders:read"}},
		"a string split at a comma":                 {"a,orders:read", []string{"a", "orders:read"}},
		"a string isn't split at a tab":             {"orders:read\torders", []string{"orders:read\torders"}},
		"nor at a line break":                       {"a\nb\r\vc\fd", []string{"a\nb\r\vc\fd"}},
		"nor at another blank of Unicode":           {"a\u00a0b\u2003c\u3000d\u0085e", []string{"a\u00a0b\u2003c\u3000d\u0085e"}},
		"an array, its elements whole":              {[]any{"a b", "c,d"}, []string{"a b", "c,d"}},
		"an array of Go strings":                    {[]string{"a"}, []string{"a"}},
		"an empty string grants nothing":            {"", nil},
		"a missing claim grants nothing":            {nil, nil},
		"a number grants nothing":                   {7, nil},
		"an object grants nothing":                  {map[string]any{"order": true}, nil},
		"an array with a number grants nothing":     {[]any{"order", 7}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := identity.ParseScopes(row.claim)
			if len(got) != len(row.want) || len(got) > 0 && !reflect.DeepEqual([]string(got), row.want) {
				t.Errorf("ParseScopes(%v) = %q, want %q", row.claim, got, row.want)
			}
		})
	}
}

func TestARequirementComparesWholeScopes(t *testing.T) {
	for name, row := range map[string]struct {
		required []string
		granted  string
		missing  []string
	}{
		"nothing required is satisfied by nothing": {nil, "", nil},
		"the same scope":                              {[]string{"read"}, "write read", nil},
		"all of them":                                 {[]string{"read", "write"}, "write read", nil},
		"one of all isn't enough":                     {[]string{"read", "write"}, "read", []string{"write"}},
		"the first of a choice":                       {[]string{"a|b"}, "a", nil},
		"the second of a choice":                      {[]string{"a|b"}, "b", nil},
		"none of a choice":                            {[]string{"a|b", "c"}, "c", []string{"a|b"}},
		"a longer scope isn't it":                     {[]string{"read"}, "readonly read:all", []string{"read"}},
		"a scope that ends so isn't it":               {[]string{"read"}, "xread", []string{"read"}},
		"upper case isn't it":                         {[]string{"read"}, "READ", []string{"read"}},
		"a choice written as it stands isn't a scope": {[]string{"a|b"}, "a|b", []string{"a|b"}},
	} {
		t.Run(name, func(t *testing.T) {
			requirement, err := identity.CompileRequirement(row.required)
			if err != nil {
				t.Fatal(err)
			}
			granted := identity.ParseScopes(row.granted)
			if got := requirement.Missing(granted); !reflect.DeepEqual(got, row.missing) {
				t.Errorf("Missing = %q, want %q", got, row.missing)
			}
			if got := requirement.Satisfied(granted); got != (row.missing == nil) {
				t.Errorf("Satisfied = %v", got)
			}
		})
	}
}

func TestARequirementThatCantBeMetOrWrittenIsRefused(t *testing.T) {
	for _, entry := range []string{"", "|", "a|", "a b", "a\"b", `a\b`, "a\tb", "ä", "a\r\nX: y"} {
		if _, err := identity.CompileRequirement([]string{"ok", entry}); err == nil {
			t.Errorf("CompileRequirement accepts %q", entry)
		}
	}
}

func TestARequirementNamesWhatWouldDo(t *testing.T) {
	requirement, err := identity.CompileRequirement([]string{"order", "read|write"})
	if err != nil {
		t.Fatal(err)
	}
	if got := requirement.String(); got != "order read" {
		t.Errorf("String = %q", got)
	}
	if !requirement.Satisfied(identity.ParseScopes(requirement.String())) {
		t.Error("what it names doesn't satisfy it")
	}
}

func TestCheckingScopesAllocatesNothing(t *testing.T) {
	requirement, _ := identity.CompileRequirement([]string{"order", "read|write"})
	granted := identity.Scopes{"order", "write"}
	if n := testing.AllocsPerRun(100, func() { requirement.Satisfied(granted) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package trace

import (
	"strings"
	"testing"
)

func TestValidRequestID(t *testing.T) {
	for _, c := range []struct {
		name, id string
		want     bool
	}{
		{"a trace id", "4bf92f3577b34da6a3ce929d0e0e4736", true},
		{"a UUID", "3F2504E0-4F89-11D3-9A0C-0305E82C3301", true},
		{"an AWS trace id", "Root=1-67891233-abcdef012345678912345678", true},
		{"every other character that is allowed", "a._:/+=@-9", true},
		{"128 bytes", strings.Repeat("a", 128), true},
		{"129 bytes", strings.Repeat("a", 129), false},
		{"4,000 bytes (H-15)", strings.Repeat("a", 4000), false},
		{"nothing", "", false},
		{"a blank", "a b", false},
		{"a quote", `a"b`, false},
		{"a newline", "a\nb", false},
		{"a letter outside ASCII", "ä", false},
		{"a list", "a,b", false},
	} {
		if got := ValidRequestID(c.id); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}

func TestValidTracestate(t *testing.T) {
	for _, c := range []struct {
		name, state string
		want        bool
	}{
		{"one member", "rojo=00f067aa0ba902b7", true},
		{"two with blanks between", "rojo=00f067aa0ba902b7 , \tcongo=t61rcWkgMzE", true},
		{"a tenant", "fw529a3039@dt=FfffffffeA", true},
		{"a tenant that begins with a digit", "0t_-*/@s_-*/=x", true},
		{"a value with blanks inside", "a=b c", true},
		{"empty members", "a=b,,c=d,", true},
		{"32 members", strings.Repeat("a=b,", 32), true},
		{"33 members", strings.Repeat("a=b,", 33), false},
		{"512 bytes", "a=" + strings.Repeat("x", 256) + ",b=" + strings.Repeat("x", 251), true},
		{"513 bytes", "a=" + strings.Repeat("x", 256) + ",b=" + strings.Repeat("x", 252), false},
		{"a value of 257 bytes", "a=" + strings.Repeat("x", 257), false},
		{"a key of 257 bytes", strings.Repeat("k", 257) + "=x", false},
		{"a tenant of 242 bytes", strings.Repeat("t", 242) + "@s=x", false},
		{"a system of 15 bytes", "t@" + strings.Repeat("s", 15) + "=x", false},
		{"nothing", "", false},
		{"only commas", ",,", false},
		{"no value", "a", false},
		{"an empty value", "a=", false},
		{"an empty key", "=b", false},
		{"an equals sign in the value", "a=b=c", false},
		{"an upper-case key", "A=b", false},
		{"a simple key that begins with a digit", "0a=b", false},
		{"two tenants", "a@b@c=d", false},
		{"an empty tenant", "@b=d", false},
		{"an empty system", "a@=d", false},
		{"a system that begins with a digit", "a@0=d", false},
		{"a newline", "a=b\nc", false},
		{"a letter outside ASCII", "a=ä", false},
	} {
		if got := ValidTracestate(c.state); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}

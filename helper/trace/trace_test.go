package trace

import (
	"strings"
	"testing"
)

const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, header string
		ok           bool
	}{
		{"the example of the specification", good, true},
		{"flags that are not sampled", good[:53] + "00", true},
		{"flags that level 1 doesn't know", good[:53] + "ff", true},
		{"a later version", "01" + good[2:], true},
		{"a later version that goes on", "cc" + good[2:] + "-what-the-future-brings", true},
		{"a later version that goes on without a dash", "cc" + good[2:] + ".x", false},
		{"version ff", "ff" + good[2:], false},
		{"version 00 that goes on", good + "-00", false},
		{"version 00 with a blank after it", good + " ", false},
		{"nothing", "", false},
		{"garbage (H-15)", "zzz", false},
		{"a byte short", good[:54], false},
		{"upper-case trace id", strings.ToUpper(good), false},
		{"upper-case flags", good[:53] + "0A", false},
		{"upper-case version", "0A" + good[2:], false},
		{"a zero trace id", "00-" + strings.Repeat("0", 32) + good[35:], false},
		{"a zero span id", good[:36] + strings.Repeat("0", 16) + good[52:], false},
		{"an underscore for a dash", strings.ReplaceAll(good, "-", "_"), false},
		{"a letter that isn't hex", strings.Replace(good, "4b", "4g", 1), false},
		{"a character between digits and letters", strings.Replace(good, "4b", "4:", 1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Parse(c.header)
			if ok != c.ok {
				t.Fatalf("Parse(%q) is %t, want %t", c.header, ok, c.ok)
			}
			if !ok {
				if got != (Context{}) {
					t.Errorf("a refused header left %v", got)
				}
				return
			}
			if want := "00" + c.header[2:55]; got.String() != want {
				t.Errorf("String is %s, want %s", got, want)
			}
			if got.TraceIDString() != c.header[3:35] {
				t.Errorf("TraceIDString is %s, want %s", got.TraceIDString(), c.header[3:35])
			}
		})
	}
}

func TestNewContextsDifferAndAreValid(t *testing.T) {
	a, b := New(), New()
	if a.TraceID == b.TraceID || a.SpanID == b.SpanID {
		t.Errorf("two new traces share an id: %s, %s", a, b)
	}
	if parsed, ok := Parse(a.String()); !ok || parsed != a {
		t.Errorf("%s is read back as %s, %t", a, parsed, ok)
	}
	if a.Flags != 0 {
		t.Errorf("flags are %x, though nobody records it", a.Flags)
	}
}

func TestChildKeepsTheTraceAndTakesANewSpan(t *testing.T) {
	parent, _ := Parse(good[:53] + "ff")
	child := parent.Child()
	if child.TraceID != parent.TraceID || child.SpanID == parent.SpanID {
		t.Errorf("the child of %s is %s", parent, child)
	}
	if child.Flags != Sampled {
		t.Errorf("unknown flags are passed on: %x", child.Flags)
	}
	parent.Flags = 0
	if child := parent.Child(); child.Flags != 0 {
		t.Errorf("a trace that isn't sampled became so: %x", child.Flags)
	}
}

func TestAllocations(t *testing.T) {
	c := New()
	for _, x := range []struct {
		name string
		want float64
		do   func()
	}{
		{"Parse", 0, func() { Parse(good) }},
		{"New", 0, func() { New() }},
		{"Child", 0, func() { c.Child() }},
		{"String", 1, func() { _ = c.String() }},
		{"TraceIDString", 1, func() { _ = c.TraceIDString() }},
		{"ValidTracestate", 0, func() { ValidTracestate("rojo=00f067aa0ba902b7, congo=t61rcWkgMzE") }},
	} {
		if n := testing.AllocsPerRun(100, x.do); n > x.want {
			t.Errorf("%s makes %v allocations, want %v", x.name, n, x.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{good, "", "zzz", "cc" + good[2:] + "-x", "ff" + good[2:], strings.ToUpper(good)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := Parse(s)
		if !ok {
			return
		}
		if len(s) < 55 || s[2:55] != c.String()[2:] {
			t.Fatalf("%q is read as %s", s, c)
		}
		if again, ok := Parse(c.Child().String()); !ok || again.TraceID != c.TraceID {
			t.Fatalf("the child of %q isn't valid: %s", s, again)
		}
	})
}

func BenchmarkHop(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c, _ := Parse(good)
		_ = c.Child().String()
	}
}

package route_test

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"gatehouse/helper/route"
)

func TestCheckPath(t *testing.T) {
	rows := []struct {
		sentence string
		path     string
		want     route.PathProblem
	}{
		{"the root is clean", "/", route.Clean},
		{"a path is clean", "/order/42", route.Clean},
		{"a final slash is clean", "/order/", route.Clean},
		{"a parameter is clean", "/order;v=1/42", route.Clean},
		{"a session parameter at the end is clean", "/app/;jsessionid=1", route.Clean},
		{"a name that begins with dots is clean", "/..a/.well-known/a../...", route.Clean},
		{"P-04: escapes of ordinary characters are clean", "/orders/a%20b%7E", route.Clean},
		{"P-04: UTF-8 is clean once it is encoded", "/caf%C3%A9", route.Clean},
		{"P-09: api.. is a name", "/api../admin", route.Clean},
		{"P-10: an encoded semicolon is clean", "/public/a%3bb", route.Clean},
		{"P-10: an encoded question mark is clean", "/public/a%3fb", route.Clean},
		{"P-10: an encoded number sign is clean", "/public/a%23b", route.Clean},
		{"P-10: an encoded percent sign is clean", "/public/a%25b", route.Clean},
		{"P-03: what is encoded twice is decoded once", "/public/..%252fadmin", route.Clean},
		{"P-03: dots that are encoded twice are a name", "/public/%252e%252e/admin", route.Clean},

		{"P-01: two dots are a dot segment", "/public/../admin", route.DotSegment},
		{"P-01: one dot is a dot segment", "/public/./admin", route.DotSegment},
		{"P-01: two dots at the end are a dot segment", "/public/..", route.DotSegment},
		{"P-01: one dot at the start is a dot segment", "/./public", route.DotSegment},
		{"P-02: encoded dots are a dot segment", "/public/%2e%2e/admin", route.DotSegment},
		{"P-02: half-encoded dots are a dot segment", "/public/.%2E/admin", route.DotSegment},
		{"P-09: dots with a parameter are a dot segment", "/api/..;/admin", route.DotSegment},
		{"P-09: dots with an encoded semicolon are a dot segment", "/api/..%3bv=1/admin", route.DotSegment},
		{"P-09: encoded dots with a parameter are a dot segment", "/api/%2e%2e;a.b", route.DotSegment},

		{"P-03: an encoded slash is unusual", "/public/..%2fadmin", route.EncodedSlash},
		{"P-03: also in upper case", "/orders/a%2Fb", route.EncodedSlash},
		{"P-03: also after encoded dots", "/public/%2e%2e%2fadmin", route.EncodedSlash},
		{"P-09: also right after the prefix", "/api%2f..%2fadmin", route.EncodedSlash},
		{"P-06: two slashes at the start are unusual", "//admin", route.EmptySegment},
		{"P-06: two slashes in the middle are unusual", "/admin//x", route.EmptySegment},
		{"P-06: two slashes at the end are unusual", "/admin//", route.EmptySegment},
		{"P-07: a path that looks like another host is unusual", "//evil.com/", route.EmptySegment},
		{"an empty name with a parameter is an empty segment", "/;v=1/admin", route.EmptySegment},
		{"P-07: a backslash is unusual", `/\evil.com/`, route.Backslash},
		{"P-07: an encoded backslash is unusual", "/%5cevil.com/", route.Backslash},
		{"P-10: an encoded NUL is unusual", "/public/a%00b", route.EncodedControl},
		{"P-10: an encoded line feed is unusual", "/public/a%0ab", route.EncodedControl},
		{"P-10: an encoded carriage return is unusual", "/public/a%0Db", route.EncodedControl},
		{"P-10: an encoded DEL is unusual", "/public/a%7fb", route.EncodedControl},

		{"no path at all is refused", "", route.NotAbsolute},
		{"an asterisk is refused", "*", route.NotAbsolute},
		{"a path without a slash is refused", "order", route.NotAbsolute},
		{"P-10: a raw NUL is refused", "/a\x00b", route.ForbiddenByte},
		{"P-10: a raw number sign is refused", "/a#b", route.ForbiddenByte},
		{"P-10: a raw byte outside ASCII is refused", "/a\xffb", route.ForbiddenByte},
		{"a raw space is refused", "/a b", route.ForbiddenByte},
		{"a raw DEL is refused", "/a\x7fb", route.ForbiddenByte},
		{"a question mark isn't part of a path", "/a?b", route.ForbiddenByte},
		{"an escape of other letters is refused", "/a%zz", route.InvalidEscape},
		{"an escape that is cut is refused", "/a%2", route.InvalidEscape},
		{"a percent sign at the end is refused", "/a%", route.InvalidEscape},
		{"IIS's own escape is refused", "/%u002e", route.InvalidEscape},
		{"what can't be allowed is reported before what can", "/../a%2fb#c", route.ForbiddenByte},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			if got := route.CheckPath(row.path, false); got != row.want {
				t.Errorf("CheckPath(%q, false) = %q, want %q", row.path, got, row.want)
			}
			want := row.want
			if want.Unusual() {
				want = route.Clean
			}
			if got := route.CheckPath(row.path, true); got != want {
				t.Errorf("CheckPath(%q, true) = %q, want %q", row.path, got, want)
			}
		})
	}
}

func TestEveryByteOfAPathIsJudged(t *testing.T) {
	for c := range 256 {
		raw := "/a" + string([]byte{byte(c)}) + "b"
		want := route.Clean
		switch {
		case c <= ' ' || c >= 0x7f || c == '#' || c == '?':
			want = route.ForbiddenByte
		case c == '%': // "%b" is cut short
			want = route.InvalidEscape
		case c == '\\':
			want = route.Backslash
		}
		if got := route.CheckPath(raw, false); got != want {
			t.Errorf("CheckPath(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestEveryProblemHasItsText(t *testing.T) {
	seen := map[string]bool{}
	for problem := route.Clean; problem <= route.EncodedControl; problem++ {
		text := problem.String()
		if seen[text] || strings.Contains(text, "unknown") {
			t.Errorf("problem %d has the text %q", problem, text)
		}
		seen[text] = true
	}
}

// The oracle takes the path apart with the standard library, in as many passes as it likes.
func forbidden(raw string) bool {
	withoutEscapes := regexp.MustCompile("%[0-9a-fA-F]{2}").ReplaceAllString(raw, "")
	return !strings.HasPrefix(raw, "/") || strings.Contains(withoutEscapes, "%") ||
		strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' || r == '?' })
}

func unusual(raw string) bool {
	segments := strings.Split(raw, "/")[1:]
	for i, segment := range segments {
		decoded, err := url.PathUnescape(segment)
		name, _, _ := strings.Cut(decoded, ";")
		if err != nil || name == "." || name == ".." || name == "" && i < len(segments)-1 ||
			strings.ContainsFunc(decoded, func(r rune) bool { return r == '/' || r == '\\' || r < ' ' || r == 0x7f }) {
			return true
		}
	}
	return false
}

func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{
		"/", "", "/order/42", "/public/../admin", "/a/%2e%2E;x/b", "//x", "/a//", "/a/;b", "/;/b", `/a\b`, "/a%5cb", "/%2f", "/%00",
		"/%zz", "/%", "/a#b", "/\xff", "/..%252f", "/.%2", "/a/.;/b", "/...", "/%3b/", "/a/..%3b", "/a%7f", "/a?b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		strict, lenient := route.CheckPath(raw, false), route.CheckPath(raw, true)
		if got, want := lenient != route.Clean, forbidden(raw); got != want {
			t.Fatalf("CheckPath(%q, true) = %q, but the oracle says forbidden: %v", raw, lenient, want)
		}
		if lenient != route.Clean {
			if strict != lenient {
				t.Fatalf("CheckPath(%q): %q must not hide %q", raw, strict, lenient)
			}
			return
		}
		if got, want := strict.Unusual(), unusual(raw); got != want {
			t.Fatalf("CheckPath(%q, false) = %q, but the oracle says unusual: %v", raw, strict, want)
		}
		if strict != route.Clean {
			return
		}
		decoded, err := url.PathUnescape(raw)
		if err != nil {
			t.Fatalf("accepted %q: %v", raw, err)
		}
		if clean := path.Clean(decoded); clean != decoded && clean+"/" != decoded {
			t.Fatalf("accepted %q, which an upstream can take for %q", raw, clean)
		}
	})
}

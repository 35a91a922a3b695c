package route_test

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"gatehouse/helper/route"
)

func TestRewrite(t *testing.T) {
	rows := []struct {
		sentence string
		raw      string
		strip    bool
		prefix   string
		rewrite  string
		want     string
	}{
		{"escapes in the prefix are stripped with it", "/%6frder/4%32", true, "/order", "", "/4%32"},
		{"nothing to do leaves the path as it is", "/order/42", false, "/order", "", "/order/42"},
		{"the prefix is stripped", "/order/42", true, "/order", "", "/42"},
		{"the prefix alone becomes the root", "/order", true, "/order", "", "/"},
		{"the prefix and a slash become the root", "/order/", true, "/order", "", "/"},
		{"a prefix with a final slash leaves one slash", "/order/42", true, "/order/", "", "/42"},
		{"the root prefix strips nothing", "/order/42", true, "/", "", "/order/42"},
		{"an exact path becomes the root", "/order/new", true, "/order/new", "", "/"},
		{"only the first occurrence is stripped", "/order/order/42", true, "/order", "", "/order/42"},
		{"P-04: what is left keeps its escapes", "/order/a%20b%7E;v=1", true, "/order", "", "/a%20b%7E;v=1"},
		{"P-09: an unusual rest is left as it came", "/api//admin", true, "/api", "", "//admin"},
		{"a path is put in front", "/42", false, "/", "/v2", "/v2/42"},
		{"a path is put in front after stripping", "/order/42", true, "/order", "/v2", "/v2/42"},
		{"a final slash in front makes no second one", "/order/42", true, "/order", "/v2/", "/v2/42"},
		{"the root in front changes nothing", "/order/42", true, "/order", "/", "/42"},
		{"the stripped root keeps its slash", "/order", true, "/order", "/v2", "/v2/"},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			if got := route.Rewrite(row.raw, row.strip, row.prefix, row.rewrite); got != row.want {
				t.Errorf("Rewrite(%q, %v, %q, %q) = %q, want %q", row.raw, row.strip, row.prefix, row.rewrite, got, row.want)
			}
		})
	}
}

// What is clean before the strip is clean after it: P-09.
func FuzzStrip(f *testing.F) {
	f.Add("/api/..;/admin", "/api")
	f.Add("/api//admin", "/api")
	f.Add("/api../admin", "/api")
	f.Add("/a/b/c/", "/a/b/")
	f.Fuzz(func(t *testing.T, raw, prefix string) {
		if route.CheckPath(raw, false) != route.Clean || route.CheckPath(prefix, false) != route.Clean {
			return
		}
		rest := route.Strip(raw, prefix)
		if problem := route.CheckPath(rest, false); problem != route.Clean {
			t.Fatalf("Strip(%q, %q) = %q: %s", raw, prefix, rest, problem)
		}
		if rest != "/" && !strings.HasSuffix(raw, rest) {
			t.Fatalf("Strip(%q, %q) = %q, which is no part of it", raw, prefix, rest)
		}
		decoded, err := url.PathUnescape(rest)
		if clean := path.Clean(decoded); err != nil || clean != decoded && clean+"/" != decoded {
			t.Fatalf("Strip(%q, %q) = %q, which an upstream can take for %q", raw, prefix, rest, clean)
		}
	})
}

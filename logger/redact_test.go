package logger

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestRedactQuery(t *testing.T) {
	names := []string{"access_token", "api_key"}
	for _, c := range []struct{ name, query, want string }{
		{"each spelling of the name, each time (O-04)", "access_token=S&a=1&ACCESS_TOKEN=S&access%5Ftoken=S&access%5ftoken=S&%61ccess_token=S",
			"access_token=***&a=1&ACCESS_TOKEN=***&access%5Ftoken=***&access%5ftoken=***&%61ccess_token=***"},
		{"the rest stays byte for byte", "a=%zz&&b=+%2B;c&=x&=&d", "a=%zz&&b=+%2B;c&=x&=&d"},
		{"nothing", "", ""},
		{"a name that only begins like it", "access_tokens=1&xaccess_token=2", "access_tokens=1&xaccess_token=2"},
		{"a name without a value", "access_token&a=1", "access_token&a=1"},
		{"an empty value", "access_token=&a=1", "access_token=***&a=1"},
		{"a value with separators that some readers know", "access_token=S;S?S#S=S&a=1", "access_token=***&a=1"},
		{"a name after a separator that some readers know", "a=1;api_key=S", "a=1;api_key=***"},
		{"a name within a value", "next=/x?api_key=S&a=1", "next=/x?api_key=***&a=1"},
		{"a broken escape in the name", "access%5token=1&access%=1", "access%5token=1&access%=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := redactQuery(c.query, names); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLongValuesAreCut(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct{ name, got, want string }{
		{"a long text", clip(long), long[:maxText] + cutMark},
		{"a text of just the limit", clip(long[:maxText]), long[:maxText]},
		{"a text cut within a letter", clip(long[:maxText-1] + "ä and more"), long[:maxText-1] + cutMark},
		{"a query cut within a secret", redactQuery("a="+long[:2000]+"&token="+long, []string{"token"}), "a=" + long[:2000] + "&token=" + mask + cutMark},
		{"a query that is long and harmless", redactQuery(long, []string{"token"}), long[:maxText] + cutMark},
		{"a URL that is long", redactURL("https://x/?token="+long, []string{"token"}), "https://x/?token=" + mask + cutMark},
		{"a header that is no URL", redactURL("text/html", []string{"token"}), "text/html"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q", c.name, c.got)
		}
	}
}

// O-01: a credential in any place where one may stand is in no line.
func TestNoCredentialIsLogged(t *testing.T) {
	const marker = "MARKER"
	e := entry()
	e.Query = "code=" + marker
	e.Header = http.Header{"X-Client": {"web"}}
	o := AccessOptions{Sample: 1, RedactQuery: []string{"Code"}, SecretHeaders: []string{"x-partner-key"}, Headers: []string{"x-client", "X-Client", "X-Absent"}}
	for _, name := range []string{"authorization", "Cookie", "SET-COOKIE", "X-API-Key", "Proxy-Authorization", "X-Partner-Key"} {
		o.Headers = append(o.Headers, name)
		e.Header.Set(name, marker)
	}
	o.Headers = append(o.Headers, "Referer", "X-Original-URL")
	e.Header["Referer"] = []string{"https://example.com/cb#CODE=" + marker}
	e.Header["X-Original-Url"] = []string{"/cb?a=1&%63ode=" + marker, "/cb?code=" + marker}
	for _, format := range []string{"json", "console"} {
		if out := access(t, format, o, e); strings.Contains(out, marker) || !strings.Contains(out, "example.com/cb") {
			t.Errorf("%s: %s", format, out)
		}
	}
	got := object(t, access(t, "json", o, e))["headers"].(map[string]any)
	if got["X-Client"] != "web" || got["Authorization"] != mask || got["X-Partner-Key"] != mask || len(got) != 9 {
		t.Errorf("headers are %v", got)
	}
}

// FuzzRedactQuery holds the redaction against the standard library's reading of a query.
func FuzzRedactQuery(f *testing.F) {
	for _, s := range []string{"", "token=S", "a=1&TOKEN=S;b", "%74oken=S&tok%65n=S", "=&;?#%", "token=token=S", "x?token=1#token=2&3"} {
		f.Add(s)
	}
	names := []string{"token"}
	f.Fuzz(func(t *testing.T, query string) {
		if len(query) > maxText {
			return
		}
		masked := redactQuery(query, names)
		before, after := strings.Split(query, "&"), strings.Split(masked, "&")
		if len(before) != len(after) {
			t.Fatalf("%q became %q: a separator is gone", query, masked)
		}
		for i := range before {
			name, _, found := strings.Cut(after[i], "=")
			decoded, err := url.PathUnescape(name) // unlike QueryUnescape it leaves a plus as it is
			if found && err == nil && len(decoded) == len("token") && strings.EqualFold(decoded, "token") && after[i] != name+"="+mask {
				t.Fatalf("%q became %q: a secret is left", query, masked)
			}
			if kept, _, changed := strings.Cut(after[i], mask); after[i] != before[i] && (!changed || !strings.HasPrefix(before[i], kept)) {
				t.Fatalf("%q became %q: more than a value has changed", query, masked)
			}
		}
	})
}

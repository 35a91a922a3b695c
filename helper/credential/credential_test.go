package credential_test

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"gatehouse/helper/credential"
)

func place(t testing.TB, text string) credential.Place {
	t.Helper()
	p, err := credential.ParsePlace(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func request(query string, headers ...string) *http.Request {
	r := &http.Request{URL: &url.URL{Path: "/", RawQuery: query}, Header: http.Header{}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func TestFindingATokenInItsPlace(t *testing.T) {
	for name, row := range map[string]struct {
		place   string
		request *http.Request
		raw     string
		state   credential.State
	}{
		"in the header":                      {"header", request("", "Authorization: Bearer a.b.c"), "a.b.c", credential.Found},
		"no header":                          {"header", request("t=a", "Cookie: t=a"), "", credential.Missing},
		"a header of another scheme":         {"header", request("", "Authorization: Basic YQ=="), "", credential.Missing},
		"a header that is garbled":           {"header", request("", "Authorization: Bearer a b"), "", credential.Malformed},
		"in a cookie":                        {"cookie:t", request("", "Cookie: x=1; t=a.b.c; y=2"), "a.b.c", credential.Found},
		"in a cookie with quotes":            {"cookie:t", request("", `Cookie: t="a.b.c"`), "a.b.c", credential.Found},
		"in a cookie with spaces around":     {"cookie:t", request("", `Cookie: x=1;  t = a.b.c ;`), "a.b.c", credential.Found},
		"a cookie of another name":           {"cookie:t", request("", "Cookie: T=a; xt=b; t2=c"), "", credential.Missing},
		"a cookie twice":                     {"cookie:t", request("", "Cookie: t=a; t=a"), "", credential.Ambiguous},
		"a cookie twice in two lines":        {"cookie:t", request("", "Cookie: t=a", "Cookie: t=b"), "", credential.Ambiguous},
		"an empty cookie":                    {"cookie:t", request("", "Cookie: t="), "", credential.Malformed},
		"a cookie that can't be a token":     {"cookie:t", request("", "Cookie: t=a,b"), "", credential.Malformed},
		"in a parameter":                     {"query:t", request("x=1&t=a.b.c&y=2"), "a.b.c", credential.Found},
		"in a parameter with an escape":      {"query:t", request("%74=a.b.c"), "a.b.c", credential.Found},
		"a parameter twice":                  {"query:t", request("t=a&t=a"), "", credential.Ambiguous},
		"a parameter twice, once escaped":    {"query:t", request("t=a&%74=b"), "", credential.Ambiguous},
		"a parameter of another name":        {"query:t", request("T=a&tt=b&x=t=c"), "", credential.Missing},
		"a parameter without a value":        {"query:t", request("t"), "", credential.Malformed},
		"a parameter whose value is escaped": {"query:t", request("t=a%2eb"), "", credential.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			raw, state := place(t, row.place).Find(row.request)
			if raw != row.raw || state != row.state {
				t.Errorf("got %q, %v, want %q, %v", raw, state, row.raw, row.state)
			}
		})
	}
}

func TestTakingOutNothingElse(t *testing.T) {
	remover := credential.NewRemover([]credential.Place{place(t, "header"), place(t, "cookie:t"), place(t, "cookie:u"), place(t, "query:t")})
	for text, want := range map[string]string{
		"":                       "",
		"t=a":                    "",
		"x=1&t=a&y=2":            "x=1&y=2",
		"t=a&x=1":                "x=1",
		"x=1&t=a":                "x=1",
		"t=a&t=b&%74=c&t":        "",
		"x=%7e+%2B&&t=a&;=?/ü&=": "x=%7e+%2B&&;=?/ü&=",
		"u=cookies+only&T=1":     "u=cookies+only&T=1",
		"%zz=1&t=a&tt=1":         "%zz=1&tt=1",
	} {
		if got := remover.Query(text); got != want {
			t.Errorf("query %q became %q, want %q", text, got, want)
		}
	}
	for name, row := range map[string]struct{ lines, want []string }{
		"one of three":        {[]string{"x=1; t=a; y=2"}, []string{"x=1; y=2"}},
		"the first":           {[]string{"t=a; x=1"}, []string{"x=1"}},
		"the last":            {[]string{"x=1; t=a"}, []string{"x=1"}},
		"the only one":        {[]string{"t=a"}, nil},
		"a whole line":        {[]string{"x=1", "t=a; u=b", "y=2"}, []string{"x=1", "y=2"}},
		"in every spelling":   {[]string{" t =a;u;t;x=1"}, []string{"x=1"}},
		"none, byte for byte": {[]string{` x = "1";; T=a`, ""}, []string{` x = "1";; T=a`, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			before := append([]string(nil), row.lines...)
			h := http.Header{"Cookie": row.lines}
			remover.Cookies(h)
			if !reflect.DeepEqual(h["Cookie"], row.want) {
				t.Errorf("became %q, want %q", h["Cookie"], row.want)
			}
			if !reflect.DeepEqual(before, row.lines) {
				t.Errorf("the lines that came in were changed to %q", row.lines)
			}
		})
	}
}

func TestPlacesThatArentOnes(t *testing.T) {
	for _, text := range []string{"", "header:x", "cookie", "cookie:", "query:", "body:t", "Header"} {
		if _, err := credential.ParsePlace(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// FuzzRemover holds that what was taken out can't be found any more, and that the rest can.
func FuzzRemover(f *testing.F) {
	f.Add("x=1&t=a&y=2", "x=1; t=a; y=2")
	f.Add("%74=a&t", `t="a";;t`)
	tokens := []credential.Place{place(f, "cookie:t"), place(f, "query:t")}
	others := []credential.Place{place(f, "cookie:x"), place(f, "query:x")}
	remover := credential.NewRemover(tokens)
	f.Fuzz(func(t *testing.T, rawQuery, line string) {
		before, after := request(rawQuery), request(remover.Query(rawQuery))
		before.Header["Cookie"], after.Header["Cookie"] = []string{line}, []string{line}
		remover.Cookies(after.Header)
		for i, p := range tokens {
			if _, state := p.Find(after); state != credential.Missing {
				t.Errorf("%q, %q: the token is still in %v", rawQuery, line, p)
			}
			raw, state := others[i].Find(before)
			if gotRaw, got := others[i].Find(after); got != state || gotRaw != raw {
				t.Errorf("%q, %q: %v was found as %q, %v, and is %q, %v", rawQuery, line, others[i], raw, state, gotRaw, got)
			}
		}
		if values, err := url.ParseQuery(after.URL.RawQuery); err == nil && values.Has("t") {
			t.Errorf("%q: net/url still finds it in %q", rawQuery, after.URL.RawQuery)
		}
	})
}

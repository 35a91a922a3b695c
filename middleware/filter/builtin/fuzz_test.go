package builtin

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/helper/exchange"
	"gatehouse/helper/field"
	"gatehouse/helper/limit"
	"gatehouse/middleware/filter"
)

// FuzzUse makes filters of any text, and sends a request through those that can be made: whatever the text is, a header of
// the gateway's own is left alone, and nothing panics.
func FuzzUse(f *testing.F) {
	for _, seed := range []string{
		"", ":", "compress", "scope:a|b", "rate_limit:60/m", "body_limit:1MiB", "ip_allow:10.0.0.0/8,::1", "set_request_header:X-A=b", "set_request_header:X_User_Id=root",
		"set_request_header:X.Forwarded.For=1", "remove_request_header:x-user-id", "set_response_header:A=b\r\nC: d", "remove_response_header:Content-Length", "api_key",
	} {
		f.Add(seed)
	}
	registry, err := filter.NewRegistry(Factories(Options{Limits: limit.NewLocal(limit.Options{}), Identity: []string{"X-User-Id"}})...)
	if err != nil {
		f.Fatal(err)
	}
	kept := []string{"X-User-Id", "X_User_Id", "X-Forwarded-For", "Host", "Transfer-Encoding", "Content-Length", "X-Request-Id"}
	f.Fuzz(func(t *testing.T, item string) {
		chain, err := registry.Build("orders", "any", []string{item})
		if err != nil {
			return
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range kept {
			request.Header[name] = []string{"kept"}
		}
		ex, request := exchange.Begin(discard{http.Header{}}, request, 0)
		chain.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			out := r.Header.Clone()
			ex.Upstreamward.Apply(out)
			for _, name := range kept {
				if !slices.Equal(out[name], []string{"kept"}) {
					t.Errorf("%q changes %s to %q", item, name, out[name])
				}
			}
			for name := range out {
				if field.Plain(name) == "X-User-Id" && !slices.Contains(kept, name) {
					t.Errorf("%q sets %s", item, name)
				}
			}
			w.WriteHeader(http.StatusNoContent)
		})).ServeHTTP(&ex.Writer, request)
	})
}

// FuzzAcceptsGzip compares the reading of Accept-Encoding with a plainer one, for texts without weights.
func FuzzAcceptsGzip(f *testing.F) {
	for _, seed := range []string{"", "gzip", "gzip;q=0", "*", "br,gzip", "gzip;q=0, *", ";", ",,", "gzip;q=1e400", "gzip;q=NaN", "GZIP ;\tq=0.5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		got := acceptsGzip(http.Header{"Accept-Encoding": {accept}})
		if strings.Contains(accept, ";") {
			return
		}
		want := false
		for coding := range strings.SplitSeq(strings.ToLower(accept), ",") {
			coding = strings.TrimSpace(coding)
			want = want || coding == "gzip" || coding == "x-gzip" || coding == "*"
		}
		if got != want {
			t.Errorf("%q: %t, want %t", accept, got, want)
		}
	})
}

// discard is a client that nobody looks at.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

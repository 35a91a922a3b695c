package transport_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/helper/transport"
)

// FuzzRequests holds the lane against net/http: a backend sees the same requests from both, but for the order of the
// fields behind Host. The lane gets some of them as Fields.
func FuzzRequests(f *testing.F) {
	f.Add("GET", "api.test", "/a%2Fb;c", "x=1;y", "agent", "Accept", "*/*", " trimmed\t")
	f.Add("HEAD", "api.test:8080", "/", "", "", "x-lower", "", "two")
	f.Add("POST", "API.test", "/a", "", "agent", "A", "1", "2")
	f.Add("GET", "b\u00fccher.test", "//a", "\x7f", "agent", "Host", "other.test", "x")
	f.Add("GET", "[fe80::1%25en0]:80", "/a b", "x", " agent ", "User-Agent", "another", "x")
	f.Add("GET", "a/b", "/\r\nx", "x", "agent", "Content-Length", "5", "7")
	f.Add("GET", "", "/", "", "agent", "Transfer-Encoding", "chunked", "identity")
	f.Add("GET", "api.test", "/", "", "agent", "Trailer", "X", "a\nb")
	f.Add("G T", "api.test", "", "", "agent\r\n", "A:", "é", "x")
	s, options := playsLocally(f, says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) // to HEAD, too: a body would end net/http's connection under the next request
	pair := []http.RoundTripper{transport.New(options), lane(f, options, localURL)}
	f.Cleanup(pair[0].(*http.Transport).CloseIdleConnections) // the lane closes its own
	f.Fuzz(func(t *testing.T, method, host, target, query, agent, name, value, other string) {
		switch canonical := http.CanonicalHeaderKey(name); {
		case canonical == "Connection", canonical == "Upgrade", canonical == "Expect", strings.HasPrefix(canonical, "Accept-Encoding"):
			return // by http.Transport, or about the connection
		case method == http.MethodConnect:
			return
		case name != canonical && (canonical == "Content-Length" || canonical == "Transfer-Encoding"):
			return // both send it, and the backend waits for a body
		}
		var refused [2]bool
		for i, rt := range pair {
			r := request(t.Context(), t, http.MethodGet, localURL+"/", nil)
			r.Method, r.Host, r.URL.Opaque, r.URL.RawQuery = method, host, target, query
			r.Header = http.Header{"User-Agent": {agent}, "B": {other, value}}
			r.Header[name] = append(r.Header[name], value, other)
			fields := []transport.Field{transport.NewField("C", value), transport.NewField(name, agent)}
			if rt == pair[0] || !transport.MayBeField(name) {
				transport.AddFields(r.Header, fields)
			} else {
				r = r.WithContext(blind{r.Context(), &transport.Watch{Fields: fields}})
			}
			res, err := rt.RoundTrip(r)
			if refused[i] = err != nil; !refused[i] {
				_, _ = io.Copy(io.Discard, res.Body) // so that the connection is kept
				res.Body.Close()
			}
		}
		seen := s.forget()
		if refused[0] != refused[1] || len(seen)%2 != 0 || len(seen) == 2 && fields(seen[0].text) != fields(seen[1].text) {
			t.Errorf("net/http and the lane differ: %v, %+v", refused, seen)
		}
	})
}

// fields is a request with what comes behind the Host in the order of the alphabet.
func fields(text string) string {
	lines := strings.Split(text, "\r\n")
	slices.Sort(lines[min(2, len(lines)):])
	return strings.Join(lines, "\r\n")
}

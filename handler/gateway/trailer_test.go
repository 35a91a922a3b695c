package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAnswerTrailers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
	for _, row := range []struct {
		name, answer string
		want         string
	}{
		{"announced", head + "Trailer: X-Sum, X-Other\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
		{"not announced", head + "\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
		{"one of two announced", head + "Trailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
		{"behind an empty body", head + "Trailer: X-Sum, X-Other\r\n\r\n0\r\nX-Sum: 7\r\nX-Other: 8\r\n\r\n", "7 8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, says(row.answer))
			s := start(t, backend.Addr().String(), openConfig)
			res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(newRequest(t, "GET", s.URL+"/", nil))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if _, err := io.ReadAll(res.Body); err != nil {
				t.Fatal(err)
			}
			if got := res.Trailer.Get("X-Sum") + " " + res.Trailer.Get("X-Other"); got != row.want {
				t.Errorf("the client got the trailers %v", res.Trailer)
			}
		})
	}
}

func TestTEReachesTheBackendForTrailersOnly(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), openConfig)
	s.raw(request("GET /", "TE: trailers, gzip"))
	if te := headerLines(backend.last(t), "Te"); strings.Join(te, "|") != "trailers" {
		t.Errorf("the backend got TE: %q", te)
	}
}

func newRequest(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

package builtin_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var large = strings.Repeat(`{"order":42,"state":"shipped"},`, 100)

// gunzip is the plain text of an answer that says it is gzipped.
func gunzip(t testing.TB, got answer) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(got.body))
	if err != nil {
		t.Fatalf("the body isn't gzip: %v", err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("the body isn't whole: %v", err)
	}
	return string(plain)
}

// answers is an upstream that answers with a header, name and value by turns, and a body of known length.
func answers(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestALargeAnswerIsCompressed(t *testing.T) {
	server := serve(t, route{filters: []string{"compress"}, upstream: answers(200, large, "Etag", `"v1"`, "Accept-Ranges", "bytes", "Vary", "Origin")})
	got := send(t, server, http.MethodGet, "Accept-Encoding", "br, gzip")
	if plain := gunzip(t, got); plain != large {
		t.Errorf("the answer is %q", plain)
	}
	h := got.Header
	if h.Get("Content-Encoding") != "gzip" || h.Get("Etag") != `W/"v1"` || h["Accept-Ranges"] != nil || got.ContentLength >= int64(len(large)) ||
		!slices.Equal(h["Vary"], []string{"Origin", "Accept-Encoding"}) {
		t.Errorf("its header is %v", h)
	}
}

func TestWhatIsNotCompressed(t *testing.T) {
	const accept = "Accept-Encoding"
	for _, test := range []struct {
		name     string
		request  []string
		upstream http.HandlerFunc
		vary     string
	}{
		{"without Accept-Encoding, but caches are told", nil, answers(200, large), accept},
		{"for a client that refuses gzip", []string{accept, "gzip;q=0, *"}, answers(200, large), accept},
		{"for a client that asks for a range", []string{accept, "gzip", "Range", "bytes=0-9"}, answers(200, large), accept},
		{"for a client that forbids it", []string{accept, "gzip", "Cache-Control", "no-transform"}, answers(200, large), accept},
		{"a small answer", []string{accept, "gzip"}, answers(200, large[:1023]), ""},
		{"an encoded answer", []string{accept, "gzip"}, answers(200, large, "Content-Encoding", "br"), ""},
		{"a part", []string{accept, "gzip"}, answers(206, large, "Content-Range", "bytes 0-3099/9999"), ""},
		{"server-sent events", []string{accept, "gzip"}, answers(200, large, "Content-Type", "Text/Event-Stream; charset=utf-8"), ""},
		{"gRPC", []string{accept, "gzip"}, answers(200, large, "Content-Type", "application/grpc+json"), ""},
		{"a picture", []string{accept, "gzip"}, answers(200, large, "Content-Type", "image/png"), ""},
		{"an unknown type", []string{accept, "gzip"}, answers(200, large, "Content-Type", ""), ""},
		{"an answer whose sum is known", []string{accept, "gzip"}, answers(200, large, "Repr-Digest", "sha-256=:AA==:"), ""},
		{"an answer that forbids it", []string{accept, "gzip"}, answers(200, large, "Cache-Control", "max-age=9, No-Transform"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := send(t, serve(t, route{filters: []string{"compress"}, upstream: test.upstream}), http.MethodGet, test.request...)
			if got.Header.Get("Content-Encoding") == "gzip" || got.body != large && got.body != large[:1023] || got.Header.Get("Vary") != test.vary {
				t.Errorf("the answer is %q with %v", got.body, got.Header)
			}
		})
	}
}

func TestWhichClientsTakeGzip(t *testing.T) {
	server := serve(t, route{filters: []string{"compress"}, upstream: answers(200, large)})
	for _, test := range []struct {
		name, accept string
		want         bool
	}{
		{"by name", "gzip", true},
		{"in capitals", "GZIP", true},
		{"by its old name", "x-gzip", true},
		{"among others", "deflate, gzip;q=0.5, br", true},
		{"by a star", "*", true},
		{"by a star but not by name", "*;q=1, gzip;q=0", false},
		{"by name but not by a star", "*;q=0, gzip", true},
		{"with no weight", "gzip;q=0.000", false},
		{"with a space before it", "gzip ; q=0.8", true},
		{"with a weight that isn't one", "gzip;q=high", false},
		{"with another parameter", "gzip;level=9", false},
		{"only something like it", "gzipped", false},
		{"only plain", "identity", false},
	} {
		got := send(t, server, http.MethodGet, "Accept-Encoding", test.accept)
		if is := got.Header.Get("Content-Encoding") == "gzip"; is != test.want {
			t.Errorf("%s: %q is compressed: %t", test.name, test.accept, is)
		}
	}
}

func TestAnswersWithoutABodyKeepTheirHeader(t *testing.T) {
	server := serve(t, route{filters: []string{"compress"}, upstream: answers(200, large, "Etag", `"v1"`)})
	got := send(t, server, http.MethodHead, "Accept-Encoding", "gzip")
	if got.ContentLength != int64(len(large)) || got.Header.Get("Content-Encoding") != "" || got.Header.Get("Etag") != `"v1"` {
		t.Errorf("the answer to HEAD has %v", got.Header)
	}
	server = serve(t, route{filters: []string{"compress"}, upstream: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"v1"`)
		w.WriteHeader(http.StatusNotModified)
	}})
	got = send(t, server, http.MethodGet, "Accept-Encoding", "gzip", "If-None-Match", `W/"v1"`)
	if got.StatusCode != 304 || got.Header.Get("Etag") != `W/"v1"` || got.Header.Get("Content-Encoding") != "" {
		t.Errorf("304 has %v", got.Header)
	}
}

func TestSeveralAnswersAtOnceDontMix(t *testing.T) {
	server := serve(t, route{filters: []string{"compress", "compress"}, upstream: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for range 300 {
			fmt.Fprintln(w, r.Header.Get("X-Number"))
		}
	}})
	var clients sync.WaitGroup
	for i := range 32 {
		clients.Go(func() {
			number := strconv.Itoa(i)
			if got := gunzip(t, send(t, server, http.MethodGet, "Accept-Encoding", "gzip", "X-Number", number)); got != strings.Repeat(number+"\n", 300) {
				t.Errorf("answer %d is %q", i, got)
			}
		})
	}
	clients.Wait()
}

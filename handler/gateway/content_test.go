package gateway_test

import (
	"strings"
	"testing"
)

// An upload that a service hands out without a type must not become a page by a guess.
func TestNoContentTypeIsInvented(t *testing.T) {
	const page = "<html><script>alert(1)</script>"
	for _, row := range []struct{ name, header, want string }{
		{"none", "", ""},
		{"none, with nosniff", "X-Content-Type-Options: nosniff\r\n", ""},
		{"an empty one", "Content-Type:\r\n", ""},
		{"its own", "Content-Type: text/plain\r\n", "text/plain"},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, says("HTTP/1.1 200 OK\r\nConnection: close\r\n"+row.header+"\r\n"+page))
			s := start(t, backend.Addr().String(), openConfig)
			got := s.get("/")
			if got.body != page || strings.Join(got.Header["Content-Type"], "|") != row.want {
				t.Errorf("got the type %q of %q", got.Header["Content-Type"], got.body)
			}
		})
	}
	s := start(t, "127.0.0.1:1", openConfig)
	if got := s.get("/"); got.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("the gateway's own answer has the type %q", got.Header["Content-Type"])
	}
}

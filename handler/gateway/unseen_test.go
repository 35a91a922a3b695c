package gateway_test

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// What docs/operations.md says that net/http answers before the chain: without a line in the log.
func TestWhatTheChainNeverSees(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), openConfig)
	for _, row := range []struct{ name, request, want string }{
		{"a request line that can't be read", "GET\r\n\r\n", "400"},
		{"no Host", "GET / HTTP/1.1\r\n\r\n", "400"},
		{"a bad Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "400"},
		{"two lengths that differ", request("POST /", "Content-Length: 1", "Content-Length: 2"), "400"},
		{"another expectation", request("POST /", "Expect: the-moon"), "417"},
		{"too large a header", request("GET /", "X-A: "+strings.Repeat("a", 64<<10)), "431"},
		{"another coding", request("POST /", "Transfer-Encoding: gzip"), "501"},
		{"another version", "GET / HTTP/3.0\r\nHost: gw.test\r\n\r\n", "505"},
	} {
		t.Run(row.name, func(t *testing.T) {
			answer := s.raw(row.request)
			if !strings.HasPrefix(answer, "HTTP/1.1 "+row.want+" ") || strings.Contains(answer, "X-Request-Id") {
				t.Errorf("got %q, want %s", answer, row.want)
			}
		})
	}
	front := httptest.NewUnstartedServer(s.gw)
	front.Config.Protocols = h2c()
	front.Start()
	defer front.Close()
	for name, want := range map[string]string{"connection": "400", "Upper": "reset"} {
		if got := h2Status(t, front.Listener.Addr().String(), "/", [2]string{name, "x"}); got != want {
			t.Errorf("over HTTP/2, the header %s: got %s, want %s", name, got, want)
		}
	}
	if lines := s.lines(); len(lines) > 0 {
		t.Errorf("the log has %v", lines)
	}
}

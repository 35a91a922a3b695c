package gateway_test

import (
	"strings"
	"testing"
)

// A client sees that an answer was cut, however little of it there was: an answer that is empty it may take for a
// connection that was closed before its request came.
func TestACutAnswerIsNotEmpty(t *testing.T) {
	for _, row := range []struct{ name, answer, want string }{
		{"of a known length", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab", "ab"},
		{"a long one", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nab", "ab"},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "ab"},
		{"without any of its body", "HTTP/1.1 503 No\r\nContent-Length: 1000\r\n\r\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, says(row.answer))
			s := start(t, backend.Addr().String(), openConfig)
			for _, version := range []string{"1.1", "1.0"} {
				text := s.raw("GET / HTTP/" + version + "\r\nHost: gw.test\r\n\r\n")
				head, body, _ := strings.Cut(text, "\r\n\r\n")
				if !strings.HasPrefix(head, "HTTP/"+version+" "+row.answer[len("HTTP/1.1 "):][:3]) || !strings.Contains(body, row.want) || strings.HasSuffix(body, "0\r\n\r\n") {
					t.Errorf("over HTTP/%s: got %q", version, text)
				}
			}
			for _, line := range s.lines() {
				logged(t, line, map[string]any{"code": "upstream_reset", "bytes_out": len(row.want)})
			}
		})
	}
}

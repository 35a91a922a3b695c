package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A service that breaks a call off because the time is over that the caller gives it does as it is told. Else a caller
// could close the way to the upstream for everybody.
func TestACallersDeadlineIsNotTheUpstreamsFailure(t *testing.T) {
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Grpc-Timeout") {
		case "":
		case "50m":
			ticks(50)
			fallthrough
		default:
			panic(http.ErrAbortHandler) // the stream is reset
		}
	}))
	backend.Config.Protocols = h2c()
	backend.Start()
	defer backend.Close()
	for _, row := range []struct{ name, timeout, kind, code, grpc string }{
		{"when the deadline is over", "50m", "application/grpc", "upstream_timeout", "4"},
		{"before it is over", "1H", "application/grpc", "upstream_reset", "14"},
		{"of a call that isn't gRPC", "50m", "text/plain", "upstream_reset", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := startBlaming(t, "h2c", backend.Listener.Addr())
			s.unblamed()
			r := newRequest(t, "POST", s.URL+"/x.X/Call", strings.NewReader("\x00\x00\x00\x00\x00"))
			r.Header = http.Header{"Content-Type": {row.kind}, "Te": {"trailers"}, "Grpc-Timeout": {row.timeout}}
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			_, _ = io.Copy(io.Discard, res.Body)
			if got := res.Header.Get("Grpc-Status"); got != row.grpc {
				t.Errorf("the call is answered %d, grpc-status %q, want %q", res.StatusCode, got, row.grpc)
			}
			lines := s.lines()
			logged(t, lines[len(lines)-1], map[string]any{"code": row.code})
			if row.code == "upstream_timeout" {
				s.unblamed()
			} else if got := s.get("/"); got.code() != "breaker_open" {
				t.Errorf("a stream that was reset is no failure: %d %s", got.StatusCode, got.body)
			}
		})
	}
}

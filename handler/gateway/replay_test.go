package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatehouse/helper/server/servertest"
)

// A body is sent again whole or not at all, and only where the config lets it.
func TestWhatIsSentAgain(t *testing.T) {
	refusing := servertest.Refuses(t)
	const small, large = 64 << 10, 200_000
	for _, row := range []struct {
		name, method string
		refuses      bool // the first backend; else it resets after half the body
		size         int
		chunked      bool
		retry        string
		want         int // status
	}{
		{"a PUT that fits", "PUT", false, small, false, "", 200},
		{"a PUT that fits, in chunks", "PUT", false, small, true, "", 200},
		{"a PUT that is too long", "PUT", false, large, false, "", 502},
		{"a PUT that turns out too long", "PUT", false, large, true, "", 502},
		{"a PUT that is too long, of which nothing was sent", "PUT", true, large, false, "", 200},
		{"a POST", "POST", false, 10, false, "", 502},
		{"a POST that was refused", "POST", true, 10, false, "", 502},
		{"a POST that is listed", "POST", false, small, false, "methods: [POST],", 200},
		{"a POST that was refused, where that is unsafe", "POST", true, small, true, "unsafe_on_connect: true,", 200},
		{"a long POST that was refused, where that is unsafe", "POST", true, large, false, "unsafe_on_connect: true,", 200},
		{"a POST that was reset, where refusals are unsafe", "POST", false, 10, false, "unsafe_on_connect: true,", 502},
		{"a DELETE without a body", "DELETE", true, 0, false, "", 200},
		{"a PUT for which nothing is retried", "PUT", true, 10, false, "on: [],", 502},
	} {
		t.Run(row.name, func(t *testing.T) {
			first := refusing
			if !row.refuses {
				first = newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
					_, _ = io.CopyN(io.Discard, in, int64(row.size/2))
					_ = conn.(*net.TCPConn).SetLinger(0)
				}).Addr().String()
			}
			body := strings.Repeat("0123456789", row.size/10+1)[:row.size]
			got := make(chan string, 1)
			second := newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
				r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(head), in)))
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(r.Body)
				got <- string(text)
				_, _ = io.WriteString(conn, okAnswer)
			})
			s := start(t, "", fmt.Sprintf(`upstreams: {app: {backends: [{url: "http://%s"}, {url: "http://%s"}], retry: {%s backoff: 1ms}, route: {path: /, auth: none}}}`,
				first, second.Addr(), row.retry))
			r := newRequest(t, row.method, s.URL, strings.NewReader(body))
			if row.chunked {
				r.ContentLength = -1
			}
			res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != row.want {
				t.Fatalf("answered %d, want %d", res.StatusCode, row.want)
			}
			if row.want != 200 {
				if n := len(second.seen()); n > 0 {
					t.Errorf("the second backend got %d requests", n)
				}
				return
			}
			if text := <-got; text != body {
				t.Errorf("the second backend got %d bytes of %d, or others", len(text), len(body))
			}
			logged(t, s.only(), map[string]any{"attempts": 2, "bytes_in": row.size})
		})
	}
}

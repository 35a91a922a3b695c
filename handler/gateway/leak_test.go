package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// TestNothingIsLeftBehind mixes faults of clients and of the upstream, and then
// looks for goroutines that outlived them and for requests that are still
// counted as in flight (M-09).
func TestNothingIsLeftBehind(t *testing.T) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before := goleak.IgnoreCurrent()
	t.Run("faults", func(t *testing.T) {
		backend := newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
			switch target := strings.Fields(head)[1]; {
			case len(headerLines(head, "Upgrade")) > 0:
				_, _ = io.WriteString(conn, switching)
				_, _ = io.Copy(conn, in)
			case strings.HasSuffix(target, "/hang"):
				_, _ = io.Copy(io.Discard, in)
			case strings.HasSuffix(target, "/half"):
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
			case strings.HasSuffix(target, "/stop"):
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
				_, _ = io.Copy(io.Discard, in)
			case strings.HasSuffix(target, "/early"):
				_, _ = io.WriteString(conn, okAnswer)
			case strings.HasSuffix(target, "/switch"):
				_, _ = io.WriteString(conn, switching)
				_, _ = io.Copy(io.Discard, in)
			case strings.HasSuffix(target, "/reset"):
			default:
				answersAfterBody(head, conn, in)
			}
		})
		s := start(t, backend.Addr().String(), strings.Replace(stallConfig, "failures: 1", "failures: 0", 1))
		faults := []func(c *client){
			func(c *client) { c.send(request("GET /")); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(request("GET /reset")); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(request("GET /half")); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(request("GET /stop")); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(request("GET /hang")); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(request("GET /switch")); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(request("GET /hang")) }, // and leaves
			func(c *client) { c.send(strings.Replace(upload, "POST /", "POST /early", 1)); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(upload + "zz\r\n"); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(upload) },
			func(c *client) { c.send(upload); _, _ = io.ReadAll(c.in) },
			func(c *client) { c.send(upgrade("/", "Upgrade", "websocket")); c.head() },
			func(c *client) {
				c.send(upgrade("/", "Upgrade", "websocket") + "early frame")
				c.head()
				_, _ = io.ReadAll(c.in)
			},
			func(c *client) { c.send("nonsense\r\n\r\n"); _, _ = io.ReadAll(c.in) },
		}
		var wg sync.WaitGroup
		for range 10 {
			for _, fault := range faults {
				c := s.dial()
				wg.Go(func() {
					defer c.Close()
					fault(c)
				})
			}
		}
		wg.Wait()
		s.lines() // waits until nothing is in flight
		for _, u := range s.gw.Upstreams() {
			for _, b := range u.Backends {
				if b.InFlight != 0 {
					t.Errorf("%s still has %d requests", b.URL, b.InFlight)
				}
			}
		}
		if n := s.counts.get("panic"); n != 0 {
			t.Errorf("counted %d panics", n)
		}
	})
	goleak.VerifyNone(t, before)
}

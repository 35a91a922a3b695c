package command

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A WebSocket can stay open for ever; a drain can't.
func TestADrainWaitsForUpgradedConnections(t *testing.T) {
	tests := []struct {
		name, timeout string
		leave         bool // the client goes by itself
		log           string
	}{
		{"one that ends by itself is waited for", "1h", true, `"msg":"drained"`},
		{"one that stays is cut", "50ms", false, `"msg":"requests were cut","number":1`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			backend := newUpgrader(t)
			s := &slowService{Server: backend}
			r := start(t, nil, "--config", s.config(t, "{timeout: "+test.timeout+"}"))
			public, _ := r.addresses(t)
			conn := upgrade(t, public)
			r.interrupt()
			r.stdout.waitFor(t, `"msg":"draining","signal":"terminated","in_flight":1`)
			if test.leave {
				if err := conn.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if code := r.end(t); code != 0 || !strings.Contains(r.stdout.String(), test.log) {
				t.Errorf("it ended with %d, want 0 and %s in the log:\n%s%s", code, test.log, r.stdout, r.stderr)
			}
			if !test.leave {
				if _, err := io.ReadAll(conn); err != nil {
					t.Errorf("the connection is still open: %v", err)
				}
			}
		})
	}
}

// newUpgrader is a backend that switches protocols, and then does nothing until the other side ends.
func newUpgrader(t *testing.T) *httptest.Server {
	t.Helper()
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}))
	t.Cleanup(backend.Close)
	return backend
}

// upgrade opens an upgraded connection through the gateway.
func upgrade(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // it may be closed already
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /v1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %v, %v", response, err)
	}
	return conn
}

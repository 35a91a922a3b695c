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
			backend := newUpgrader(t, "")
			s := &slowService{Server: backend}
			r := start(t, nil, "--config", s.config(t, "{timeout: "+test.timeout+"}"))
			public, _ := r.addresses(t)
			conn, in := upgrade(t, public)
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
				if _, err := io.ReadAll(in); err != nil {
					t.Errorf("the connection is still open: %v", err)
				}
			}
		})
	}
}

// A WebSocket that is cut is told so, unless that would spoil a frame (RFC 6455, section 5.5.1).
func TestADrainSaysGoodbyeToWebSockets(t *testing.T) {
	const goingAway = "\x88\x02\x03\xe9"
	for _, test := range []struct{ name, relayed, farewell string }{
		{"that were silent", "", goingAway},
		{"behind a whole frame", "\x81\x02hi", goingAway},
		{"not within a frame", "\x81\x05hi", ""},
		{"nor behind the backend's own goodbye", "\x88\x02\x03\xe8", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &slowService{Server: newUpgrader(t, test.relayed)}
			r := start(t, nil, "--config", s.config(t, "{timeout: 50ms}"))
			public, _ := r.addresses(t)
			conn, in := upgrade(t, public)
			got := make([]byte, len(test.relayed))
			if _, err := io.ReadFull(in, got); err != nil || string(got) != test.relayed {
				t.Fatalf("got %q, %v", got, err)
			}
			if _, err := io.WriteString(conn, "\x81\x82\x00\x00\x00\x00hi"); err != nil { // the answer must not be lost to what is unread
				t.Fatal(err)
			}
			r.interrupt()
			if len(test.farewell) > 0 {
				if _, err := io.ReadFull(in, make([]byte, len(test.farewell))); err != nil {
					t.Fatalf("no close frame: %v", err)
				}
				if _, err := io.WriteString(conn, "\x88\x82\x00\x00\x00\x00\x03\xe9"); err != nil {
					t.Fatal(err)
				}
			}
			if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
				t.Errorf("then came %q, %v", rest, err)
			}
			if code := r.end(t); code != 0 || !strings.Contains(r.stdout.String(), `"code":"draining"`) {
				t.Errorf("it ended with %d:\n%s", code, r.stdout)
			}
		})
	}
}

// newUpgrader is a backend that switches protocols, says a greeting, and then nothing until the other side ends.
func newUpgrader(t *testing.T, greeting string) *httptest.Server {
	t.Helper()
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"+greeting)
		_, _ = io.Copy(io.Discard, conn)
	}))
	t.Cleanup(backend.Close)
	return backend
}

// upgrade opens an upgraded connection through the gateway.
func upgrade(t *testing.T, address string) (net.Conn, *bufio.Reader) {
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
	in := bufio.NewReader(conn)
	response, err := http.ReadResponse(in, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %v, %v", response, err)
	}
	return conn, in
}

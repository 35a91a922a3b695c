package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

const upgradeConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
upstreams:
  app: {url: "http://BACKEND", timeouts: {request: 100ms, idle: 300ms}, breaker: {failures: 1}}
routes:
  - {path: /, upstream: app, auth: none}
  - {path: /stages, upstream: app, scopes: [], limit: {rate: 100/s}, cors: {allowed_origins: ["https://app.test"], allowed_methods: [GET]}}
`

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\nX-Request-Id: fake\r\n" +
	"Access-Control-Allow-Origin: *\r\n\r\n"

// newEchoBackend accepts every upgrade and sends back what it gets, and then
// "bye" when the client has nothing more to say.
func newEchoBackend(t *testing.T) *rawBackend {
	return newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
		if len(headerLines(head, "Upgrade")) == 0 {
			_, _ = io.WriteString(conn, okAnswer)
			return
		}
		_, _ = io.WriteString(conn, switching)
		if _, err := io.Copy(conn, in); err == nil {
			_, _ = io.WriteString(conn, "bye")
		}
	})
}

func upgrade(path, connection, protocol string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: gw.test\r\nConnection: " + connection + "\r\nUpgrade: " + protocol +
		"\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

// closeWrite ends what the client sends.
func (c *client) closeWrite() {
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		c.t.Errorf("closing: %v", err)
	}
}

func TestUpgrade(t *testing.T) {
	for _, row := range []struct {
		name, path, connection, protocol string
		early                            int // frames that come with the request
	}{
		{"as browsers write it", "/", "Upgrade", "websocket", 0},
		{"in lower case", "/", "upgrade", "websocket", 0},
		{"in a list, in upper case", "/", "keep-alive, UPGRADE", "WebSocket", 0},
		{"through every stage", "/stages", "Upgrade", "websocket", 0},
		{"with a frame that doesn't wait for the answer", "/", "Upgrade", "websocket", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newEchoBackend(t)
			s := start(t, backend.Addr().String(), upgradeConfig)
			c := s.dial()
			c.send(upgrade(row.path, row.connection, row.protocol, bearer(t, nil), "Origin: https://app.test") + strings.Repeat("frame 0", row.early))
			head := c.head()
			if !strings.HasPrefix(head, "HTTP/1.1 101 ") {
				t.Fatalf("got %q", head)
			}
			want := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Accept": "x", "Access-Control-Allow-Origin": "*"}
			if row.path == "/stages" {
				want["Access-Control-Allow-Origin"], want["RateLimit-Limit"] = "https://app.test", "100"
			}
			for name, value := range want {
				if got := strings.Join(headerLines(head, name), "|"); got != value {
					t.Errorf("%s is %q, want %q", name, got, value)
				}
			}
			if ids := headerLines(head, "X-Request-Id"); len(ids) != 1 || len(ids[0]) != 32 {
				t.Errorf("X-Request-Id is %q", ids)
			}
			up := backend.last(t)
			if got := strings.Join(headerLines(up, "Connection"), "|") + strings.Join(headerLines(up, "Upgrade"), "|"); !strings.EqualFold(got, "Upgradewebsocket") {
				t.Errorf("the backend got the upgrade %q", got)
			}
			for i := range 3 { // longer than the request's time
				frame := fmt.Sprintf("frame %d", i)
				if i >= row.early {
					c.send(frame)
				}
				c.expect(frame)
				ticks(60)
			}
			if n := s.gw.InFlight(); n != 1 {
				t.Errorf("%d requests in flight, want the upgraded one", n)
			}
			c.closeWrite()
			c.expect("bye") // each direction ends by itself
			if _, err := c.in.ReadByte(); err != io.EOF {
				t.Errorf("the connection isn't closed: %v", err)
			}
			logged(t, s.only(), map[string]any{"status": 101, "code": "", "bytes_in": 21, "bytes_out": 24, "attempts": 1})
			if n := s.gw.InFlight(); n != 0 {
				t.Errorf("%d requests in flight at rest", n)
			}
		})
	}
}

func TestUpgradedConnectionEndsWhenIdle(t *testing.T) {
	backend := newEchoBackend(t)
	s := start(t, backend.Addr().String(), upgradeConfig)
	c := s.dial()
	c.send(upgrade("/", "Upgrade", "websocket"))
	c.head()
	c.send("one")
	c.expect("one")
	if rest, _ := io.ReadAll(c.in); len(rest) > 0 {
		t.Errorf("got %q", rest)
	}
	logged(t, s.only(), map[string]any{"status": 101, "code": "upstream_timeout", "bytes_in": 3, "bytes_out": 3})
}

func TestUpgradedConnectionThatTheBackendEnds(t *testing.T) {
	backend := newRawBackend(t, says(switching+"hello"))
	s := start(t, backend.Addr().String(), upgradeConfig)
	for range 10 {
		c := s.dial()
		c.send(upgrade("/", "Upgrade", "websocket"))
		c.head()
		c.expect("hello")
		if _, err := c.in.ReadByte(); err != io.EOF {
			t.Errorf("the end doesn't reach the client: %v", err)
		}
		c.Close()
	}
	for _, line := range s.lines() {
		logged(t, line, map[string]any{"status": 101, "code": "", "bytes_out": 5})
	}
}

// Only websocket is passed on; the request goes on without the upgrade.
func TestOtherUpgradesAreDropped(t *testing.T) {
	backend := newEchoBackend(t)
	s := start(t, backend.Addr().String(), upgradeConfig)
	for _, row := range []struct{ connection, protocol string }{
		{"Upgrade, HTTP2-Settings", "h2c"}, {"Upgrade", "TLS/1.0"}, {"Upgrade", "websocket, h2c"}, {"Upgrade", "h2c\r\nUpgrade: websocket"}, {"keep-alive", "websocket"},
	} {
		c := s.dial()
		c.send(upgrade("/", row.connection, row.protocol, "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"))
		if head := c.head(); !strings.HasPrefix(head, "HTTP/1.1 200 ") {
			t.Errorf("%q: got %q", row.protocol, head)
		}
		if head := backend.last(t); len(headerLines(head, "Upgrade")) > 0 || len(headerLines(head, "Connection")) > 0 {
			t.Errorf("%q: the backend got %q", row.protocol, head)
		}
	}
}

func TestUpgradeThatTheBackendRefuses(t *testing.T) {
	backend := newRawBackend(t, says("HTTP/1.1 403 Forbidden\r\nX-Why: because\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"))
	s := start(t, backend.Addr().String(), upgradeConfig)
	c := s.dial()
	c.send(upgrade("/", "Upgrade", "websocket"))
	if got := c.answer("GET"); got.StatusCode != 403 || got.body != "no" || got.Header.Get("X-Why") != "because" {
		t.Errorf("got %d %v %q", got.StatusCode, got.Header, got.body)
	}
	logged(t, s.only(), map[string]any{"status": 403, "code": "", "bytes_out": 2})
}

// A backend that switches to what nobody asked for is at fault.
func TestUpgradeThatNobodyAskedFor(t *testing.T) {
	for _, row := range []struct{ name, request, answer string }{
		{"without a request for one", request("GET /"), switching},
		{"to another protocol", upgrade("/", "Upgrade", "websocket"), strings.Replace(switching, "websocket", "h2c", 1)},
		{"without saying to what", upgrade("/", "Upgrade", "websocket"), "HTTP/1.1 101 Switching Protocols\r\n\r\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			ended := make(chan struct{}, 1)
			backend := newRawBackend(t, func(_ string, conn net.Conn, in *bufio.Reader) {
				_, _ = io.WriteString(conn, row.answer)
				_, _ = io.Copy(io.Discard, in)
				ended <- struct{}{}
			})
			s := start(t, backend.Addr().String(), upgradeConfig)
			c := s.dial()
			c.send(row.request)
			if got := c.answer("GET"); got.StatusCode != 502 || got.code() != "upstream_bad_response" {
				t.Errorf("got %d %s", got.StatusCode, got.body)
			}
			wait(t, ended, "the end of the connection to the backend")
			logged(t, s.only(), map[string]any{"status": 502, "code": "upstream_bad_response"})
			if got := s.get("/"); got.code() != "breaker_open" {
				t.Errorf("it was no failure for the breaker: %d", got.StatusCode)
			}
		})
	}
}

// Each upgrade has the identity of its own caller.
func TestUpgradeHasItsOwnCallersIdentity(t *testing.T) {
	backend := newEchoBackend(t)
	s := start(t, backend.Addr().String(), upgradeConfig)
	for _, user := range []string{"ada", "bob"} {
		c := s.dial()
		c.send(upgrade("/stages", "Upgrade", "websocket", bearer(t, map[string]any{"sub": user}), "X-User-Id: evil"))
		c.head()
		if ids := headerLines(backend.last(t), "X-User-Id"); len(ids) != 1 || ids[0] != user {
			t.Errorf("the backend got X-User-Id %q, want %s", ids, user)
		}
		c.closeWrite()
		c.expect("bye")
	}
}

func TestUpgradeWhileDraining(t *testing.T) {
	backend := newEchoBackend(t)
	s := start(t, backend.Addr().String(), upgradeConfig)
	s.gw.Drain()
	c := s.dial()
	c.send(upgrade("/", "Upgrade", "websocket"))
	if head := c.head(); !strings.HasPrefix(head, "HTTP/1.1 101 ") || strings.Join(headerLines(head, "Connection"), "|") != "Upgrade" {
		t.Errorf("got %q", head)
	}
	c.closeWrite()
	c.expect("bye")
	if got := s.get("/"); got.StatusCode != 200 || !got.Close {
		t.Errorf("an ordinary answer doesn't say Connection: close: %v", got.Header)
	}
}

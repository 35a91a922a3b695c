package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const blameConfig = `
server: {timeouts: {write_idle: 5s}}
upstreams:
  app:
    url: "SCHEME://BACKEND"
    breaker: {failures: 1, open_for: 1h}
    eject: {failures: 1, for: 1h, max_percent: 100}
    retry: {attempts: 1}
    timeouts: {request: 1s}
    connections: {max: 1}
    route: {path: /, auth: none}
routes:
  - {path: /stream, upstream: app, auth: none, timeout: 0s}
`

// startBlaming starts a gateway whose upstream is given up after one failure.
func startBlaming(t *testing.T, scheme string, backend net.Addr) *stand {
	t.Helper()
	return start(t, backend.String(), strings.ReplaceAll(blameConfig, "SCHEME", scheme))
}

// unblamed checks that the upstream and its backend still get requests.
func (s *stand) unblamed() {
	s.t.Helper()
	if got := s.get("/"); got.StatusCode != 200 {
		s.t.Errorf("the upstream was blamed: %d %s", got.StatusCode, got.body)
	}
}

// A request that is never sent isn't held against the upstream.
func TestWhatWasNeverSentIsNobodysFailure(t *testing.T) {
	old := newRawBackend(t, says(okAnswer))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.Protocols, server.Config.MaxHeaderBytes = h2c(), 8<<10
	server.Start()
	defer server.Close()
	for _, row := range []struct {
		name   string
		scheme string
		send   func(s *stand) *answer
		status int
		code   string
	}{
		{"a method that is no token", "http", func(s *stand) *answer { return s.overHTTP2("G T") }, 400, "bad_request"},
		{"a method that is no token, over HTTP/2 throughout", "h2c", func(s *stand) *answer { return s.overHTTP2("G(T") }, 400, "bad_request"},
		{"a protocol that isn't printable", "http", func(s *stand) *answer { return s.asked("Connection: Upgrade", "Upgrade: w\xe9b") }, 400, "bad_request"},
		{"a WebSocket, which HTTP/2 can't switch to", "h2c", func(s *stand) *answer { return s.asked("Connection: Upgrade", "Upgrade: websocket") }, 502, "upstream_bad_response"},
		{"more header than the backend takes", "h2c", func(s *stand) *answer { return s.get("/", "X-Long: "+strings.Repeat("x", 20<<10)) }, 400, "bad_request"},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := old.Addr()
			if row.scheme == "h2c" {
				backend = server.Listener.Addr()
			}
			s := startBlaming(t, row.scheme, backend)
			s.unblamed() // and the connections are made
			for range 3 {
				if got := row.send(s); got.StatusCode != row.status || got.code() != row.code {
					t.Errorf("it is answered %d %s", got.StatusCode, got.body)
				}
			}
			s.unblamed()
		})
	}
}

// asked makes a raw request over HTTP/1.1.
func (s *stand) asked(headers ...string) *answer {
	c := s.dial()
	c.send("GET / HTTP/1.1\r\nHost: gw.test\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n")
	return c.answer("GET")
}

// overHTTP2 sends a method over HTTP/2 as no client of net/http would.
func (s *stand) overHTTP2(method string) *answer {
	s.t.Helper()
	front := httptest.NewUnstartedServer(s.gw)
	front.Config.Protocols = h2c()
	front.Start()
	defer front.Close()
	conn, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", method}, {":scheme", "http"}, {":authority", "gw.test"}, {":path", "/"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	_, _ = io.WriteString(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = framer.WriteSettings()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true})
	got := &answer{Response: &http.Response{}}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			s.t.Fatalf("reading the answer: %v", err)
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			_, _ = fmt.Sscan(f.PseudoValue("status"), &got.StatusCode)
		case *http2.DataFrame:
			got.body += string(f.Data())
		}
		if frame.Header().StreamID == 1 && frame.Header().Flags.Has(http2.FlagDataEndStream) {
			return got
		}
	}
}

// The time in which the client sends its body isn't the upstream's.
func TestTheClientsTimeIsNotTheUpstreams(t *testing.T) {
	backend := newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
		if strings.HasPrefix(head, "POST") {
			_, _ = io.Copy(io.Discard, in) // the gateway breaks off first
			return
		}
		_, _ = io.WriteString(conn, okAnswer)
	})
	s := startBlaming(t, "http", backend.Addr())
	c := s.dial()
	c.send("POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 4\r\n\r\nab")
	ticks(700)
	c.send("cd")
	if got := c.answer("POST"); got.StatusCode != 400 || got.code() != "bad_request" {
		t.Errorf("it is answered %d %s", got.StatusCode, got.body)
	}
	s.unblamed()
	c = s.dial()
	c.send("POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 4\r\n\r\nabcd")
	if got := c.answer("POST"); got.StatusCode != 504 || s.get("/").code() != "breaker_open" {
		t.Errorf("an upload that was quick excuses the upstream: %d %s", got.StatusCode, got.body)
	}
}

// A request that waits for one of the gateway's own connections says nothing.
func TestWaitingForAConnectionIsNobodysFailure(t *testing.T) {
	release := make(chan struct{})
	backend := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		if strings.Contains(head, " /stream ") {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
			<-release
			return
		}
		_, _ = io.WriteString(conn, okAnswer)
	})
	s := startBlaming(t, "http", backend.Addr())
	c := s.dial()
	c.send(request("GET /stream"))
	c.head()
	if got := s.get("/"); got.StatusCode != 503 || got.code() != "overloaded" {
		t.Errorf("it is answered %d %s", got.StatusCode, got.body)
	}
	close(release)
	_, _ = io.Copy(io.Discard, c.in)
	s.unblamed()
}

// A server needn't know the methods that clients make up.
func TestUnknownMethodsAreNoFailure(t *testing.T) {
	backend := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		status := map[string]string{"FROB": "501 Not Implemented", "MOVE": "505 HTTP Version Not Supported", "PUT": "501 Not Implemented"}
		method, _, _ := strings.Cut(head, " ")
		if status[method] == "" {
			_, _ = io.WriteString(conn, okAnswer)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 "+status[method]+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	})
	s := startBlaming(t, "http", backend.Addr())
	for method, want := range map[string]int{"FROB": 501, "MOVE": 505} {
		if got := s.do(method, "/", ""); got.StatusCode != want {
			t.Errorf("%s is answered %d", method, got.StatusCode)
		}
	}
	s.unblamed()
	if s.do("PUT", "/", ""); s.get("/").code() != "breaker_open" {
		t.Error("a server that doesn't implement PUT doesn't fail")
	}
}

// Wherever an answer's header is cut, it is a connection that broke.
func TestAHeaderThatIsCutIsAReset(t *testing.T) {
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\n"
	for cut := range len(whole) {
		backend := newRawBackend(t, says(whole[:cut]))
		s := start(t, backend.Addr().String(), openConfig)
		if got := s.get("/"); got.StatusCode != 502 || got.code() != "upstream_reset" {
			t.Errorf("cut after %q: %d %s", whole[:cut], got.StatusCode, got.body)
		}
	}
}

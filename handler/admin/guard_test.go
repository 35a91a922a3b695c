package admin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A name that somebody else has made lead here is as good as any for a browser (DNS rebinding).
func TestNamesThatMayBeSomebodyElses(t *testing.T) {
	for _, test := range []struct {
		name, host, path, token string
		status                  int
	}{
		{"the API under another name", "evil.example:9090", "/api/routes", "", 400},
		{"the profiles under another name", "evil.example", "/debug/pprof/", "", 400},
		{"a command under another name", "evil.example", "/debug/pprof/cmdline", "", 400},
		{"a name that begins as an address does", "127.0.0.1.evil.example", "/api/routes", "", 400},
		{"a name that ends in localhost's letters", "evil-localhost", "/api/routes", "", 400},
		{"an address", "10.0.0.1:9090", "/api/routes", "", 200},
		{"an IPv6 address", "[::1]:9090", "/api/routes", "", 200},
		{"an IPv6 address without a port", "[::1]", "/api/routes", "", 200},
		{"localhost", "LocalHost:9090", "/api/routes", "", 200},
		{"no name", "", "/api/routes", "", 200},
		{"another name, where a token is needed and shown", "gatehouse:9090", "/api/routes", "s3cret", 200},
		{"metrics, which Prometheus asks by name", "gatehouse:9090", "/metrics", "", 200},
		{"liveness", "gatehouse:9090", "/healthz", "", 200},
		{"readiness", "gatehouse:9090", "/readyz", "", 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options()
			o.Token = test.token
			server := httptest.NewServer(New(o))
			defer server.Close()
			request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", test.path, test.host, test.token)
			if got := exchangeRaw(t, "tcp", server.Listener.Addr().String(), request); got != test.status {
				t.Errorf("got %d, want %d", got, test.status)
			}
		})
	}
}

func TestEveryNameIsGoodOverAUnixSocket(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: New(options()), ReadHeaderTimeout: time.Minute}}
	server.Start()
	defer server.Close()
	if got := exchangeRaw(t, "unix", listener.Addr().String(), "GET /api/routes HTTP/1.1\r\nHost: gatehouse\r\nConnection: close\r\n\r\n"); got != 200 {
		t.Errorf("got %d", got)
	}
}

// exchangeRaw sends a request as it is written and returns the status of the answer.
func exchangeRaw(t *testing.T, network, address, request string) int {
	t.Helper()
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second)) // less than readTimeout
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// A refusal doesn't wait for a body that may never come.
func TestRefusalsComeBeforeTheBody(t *testing.T) {
	o := options()
	o.Token = "s3cret"
	server := httptest.NewServer(New(o))
	defer server.Close()
	for path, want := range map[string]int{"/api/log-level": 401, "/nowhere": 404, "/healthz": 405} {
		request := "PUT " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n"
		if got := exchangeRaw(t, "tcp", server.Listener.Addr().String(), request); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
}

// A body that never comes ends the connection, and what comes of it later is no request.
func TestStalledBodiesEndTheConnection(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	bounds := New(options())
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { bounds.ServeHTTP(soon{w}, r) })
	server.Start()
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second)) // less than readTimeout
	if _, err := io.WriteString(conn, "PUT /api/log-level HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if rest, err := io.ReadAll(in); response.StatusCode != 400 || len(rest) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %d, then %q and %v; want 400 and the connection's end", response.StatusCode, rest, err)
	}
}

// soon is an answer whose request has to come in a hundredth of its time.
type soon struct{ http.ResponseWriter }

func (s soon) SetReadDeadline(at time.Time) error {
	return http.NewResponseController(s.ResponseWriter).SetReadDeadline(time.Now().Add(time.Until(at) / 100))
}

func (s soon) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// deadlines notes those that are set on the connection of an answer.
type deadlines struct {
	http.ResponseWriter
	read, write time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error  { d.read = at; return nil }
func (d *deadlines) SetWriteDeadline(at time.Time) error { d.write = at; return nil }

func TestConnectionsAreNotHeld(t *testing.T) {
	for _, test := range []struct {
		name, method, path, body string
		read, write              bool // is there a limit
	}{
		{"a body is waited for, and an answer taken, for so long", "PUT", "/api/log-level", `{"level":"debug"}`, true, true},
		{"without a body there is nothing to wait for", "GET", "/metrics", "", false, true},
		{"a profile lasts as long as it is asked for", "GET", "/debug/pprof/cmdline", "", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), test.method, "http://localhost"+test.path, strings.NewReader(test.body))
			d := &deadlines{ResponseWriter: httptest.NewRecorder()}
			New(options()).ServeHTTP(d, request)
			if d.read.IsZero() == test.read || d.write.IsZero() == test.write {
				t.Errorf("the deadlines are %s and %s", d.read, d.write)
			}
		})
	}
}

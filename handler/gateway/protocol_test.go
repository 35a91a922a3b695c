package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tells answers with the protocol and the host that it was called by.
var tells = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Trailer", "X-End")
	sni := ""
	if r.TLS != nil {
		sni = " sni=" + r.TLS.ServerName
	}
	_, _ = fmt.Fprintf(w, "%s %s %s%s", r.Proto, r.Host, r.RequestURI, sni)
	w.Header().Set("X-End", "yes")
})

func h2c() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

func TestProtocolsToTheBackend(t *testing.T) {
	serve := func(t *testing.T, network, address string, protocols *http.Protocols) string {
		t.Helper()
		listener, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: tells, Protocols: protocols}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { _ = server.Close() })
		return listener.Addr().String()
	}
	secure := httptest.NewUnstartedServer(tells)
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	secure.StartTLS()
	defer secure.Close()
	ca, cert, key := writeCertificate(t, secure)

	socket := filepath.Join(t.TempDir(), "app.sock")
	serve(t, "unix", socket, nil)
	v6 := serve(t, "tcp", "[::1]:0", nil)
	clear := serve(t, "tcp", "127.0.0.1:0", h2c())
	s := start(t, "", fmt.Sprintf(`
upstreams:
  unix: {url: "unix:%s"}
  v6: {url: "http://%s"}
  h2c: {url: "h2c://%s/base"}
  tls: {url: "https://%s", host: inner.test, tls: {ca: %q, cert: %q, key: %q, server_name: example.com}}
  untrusted: {url: "https://%s"}
routes:
  - {path: /unix, upstream: unix, auth: none}
  - {path: /v6, upstream: v6, auth: none}
  - {path: /h2c, upstream: h2c, auth: none, strip_prefix: true}
  - {path: /tls, upstream: tls, auth: none}
  - {path: /untrusted, upstream: untrusted, auth: none}
`, socket, v6, clear, secure.Listener.Addr(), ca, cert, key, secure.Listener.Addr()))
	for path, want := range map[string]string{
		"/unix/a?b": "HTTP/1.1 localhost /unix/a?b",
		"/v6":       "HTTP/1.1 " + v6 + " /v6",
		"/h2c/a%2B": "HTTP/2.0 " + clear + " /base/a%2B",
		"/tls/x":    "HTTP/2.0 inner.test /tls/x sni=example.com",
	} {
		got := s.get(path)
		if got.StatusCode != 200 || got.body != want || got.Trailer.Get("X-End") != "yes" {
			t.Errorf("%s: got %d %q, want %q", path, got.StatusCode, got.body, want)
		}
	}
	if got := s.get("/untrusted"); got.code() != "upstream_unreachable" || !strings.Contains(got.Header.Get("Proxy-Status"), "tls_certificate_error") {
		t.Errorf("a certificate of nobody: %d %v", got.StatusCode, got.Header)
	}
}

// writeCertificate writes a test server's certificate, and its key for the client
// to use as its own.
func writeCertificate(t *testing.T, server *httptest.Server) (ca, cert, key string) {
	t.Helper()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	der, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	ca = write("ca.pem", "CERTIFICATE", server.Certificate().Raw)
	return ca, ca, write("key.pem", "PRIVATE KEY", der)
}

// A stream of messages each way, as gRPC has it, with its status in the trailer.
func TestGRPCThroughTheGateway(t *testing.T) {
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Add("Trailer", "Grpc-Status")
		if r.Proto != "HTTP/2.0" || r.Header.Get("Te") != "trailers" || r.Header.Get("X-User-Id") != "ada" {
			w.Header().Set("Grpc-Status", "13")
			return
		}
		message := make([]byte, 5+4)
		for {
			if _, err := io.ReadFull(r.Body, message); err != nil {
				break
			}
			_, _ = w.Write(message)
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("Grpc-Status", "0")
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", "well")
	}))
	backend.Config.Protocols = h2c()
	backend.Start()
	defer backend.Close()
	s := start(t, backend.Listener.Addr().String(), `
auth: {providers: {test: {issuer: test, algorithms: [HS256], secret: SECRET}}}
upstreams: {app: {url: "h2c://BACKEND", timeouts: {request: 0s}, route: {path: /echo.Echo, scopes: []}}}
routes:
  - {path: /limited, upstream: app, auth: none, limit: {rate: 1/h}}
`)
	front := httptest.NewUnstartedServer(s.gw)
	front.Config.Protocols = h2c()
	front.Start()
	defer front.Close()
	client := &http.Transport{Protocols: h2c()}
	defer client.CloseIdleConnections()
	call := func(path, authorization string) (*http.Response, *io.PipeWriter) {
		t.Helper()
		body, send := io.Pipe()
		r := newRequest(t, "POST", front.URL+path, body)
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set("Te", "trailers")
		if authorization != "" {
			r.Header.Set("Authorization", strings.TrimPrefix(authorization, "Authorization: "))
		}
		res, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		return res, send
	}

	started := make(chan struct{})
	var res *http.Response
	var send *io.PipeWriter
	body, pipe := io.Pipe()
	send = pipe
	r := newRequest(t, "POST", front.URL+"/echo.Echo/Stream", body)
	r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"},
		"Authorization": {strings.TrimPrefix(bearer(t, map[string]any{"sub": "ada"}), "Authorization: ")}}
	go func() {
		defer close(started)
		var err error
		if res, err = client.RoundTrip(r); err != nil {
			t.Error(err)
		}
	}()
	message := "\x00\x00\x00\x00\x04"
	_, _ = io.WriteString(send, message+"ping")
	<-started
	if t.Failed() {
		return
	}
	got := make([]byte, 9)
	for _, text := range []string{"ping", "pong"} { // each is answered before the next is sent
		if text != "ping" {
			_, _ = io.WriteString(send, message+text)
		}
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != message+text {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	send.Close()
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("got %q, %v", rest, err)
	}
	if res.Trailer.Get("Grpc-Status") != "0" || res.Trailer.Get("Grpc-Message") != "well" {
		t.Errorf("the trailers are %v", res.Trailer)
	}

	for _, row := range []struct{ name, path, status, code string }{
		{"no token", "/echo.Echo/Stream", "16", "credentials_missing"},
		{"no route", "/nowhere", "12", "no_route"},
	} {
		res, send := call(row.path, "")
		send.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		if res.StatusCode != 200 || res.Header.Get("Grpc-Status") != row.status || !strings.HasPrefix(res.Header.Get("Grpc-Message"), row.code+": ") {
			t.Errorf("%s: %d %v", row.name, res.StatusCode, res.Header)
		}
	}
	lines := s.lines()
	logged(t, lines[len(lines)-1], map[string]any{"code": "no_route", "status": 200})
}

// Backends of HTTP/2 that are restarted one after the other cost no POST: a stream
// that was refused, or never reached its backend, is sent again.
func TestARollingRestartCostsNoPost(t *testing.T) {
	serve := func(address string) *http.Server {
		t.Helper()
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Addr: listener.Addr().String(), Protocols: h2c(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		})}
		go func() { _ = server.Serve(listener) }()
		return server
	}
	servers := []*http.Server{serve("127.0.0.1:0"), serve("127.0.0.1:0")}
	defer func() {
		for _, server := range servers {
			_ = server.Close()
		}
	}()
	s := start(t, "", fmt.Sprintf(`upstreams: {app: {backends: [{url: "h2c://%s"}, {url: "h2c://%s"}],
  retry: {unsafe_on_connect: true, backoff: 1ms, budget: 1}, eject: {failures: 0}, route: {path: /, auth: none}}}`, servers[0].Addr, servers[1].Addr))
	for i := range 200 {
		if i%50 == 25 {
			n := i / 50 % 2
			if err := servers[n].Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if i > 100 { // the first time round, nobody is there for a while
				servers[n] = serve(servers[n].Addr)
			}
		}
		if i == 50 || i == 100 {
			servers[i/50-1] = serve(servers[i/50-1].Addr)
		}
		if got := s.do("POST", "/", "hello"); got.StatusCode != 200 || got.body != "hello" {
			t.Fatalf("POST %d is answered %d %q", i, got.StatusCode, got.body)
		}
	}
}

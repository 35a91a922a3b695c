package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/helper/transport"
)

func get(t *testing.T, rt *http.Transport, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	t.Cleanup(rt.CloseIdleConnections)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func TestCompressionIsLeftAlone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Asked", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "not really gzip")
	}))
	defer server.Close()
	rt := transport.New(transport.Options{})
	for _, row := range []struct {
		sent []string
		want string
	}{{nil, ""}, {[]string{"Accept-Encoding: gzip, br"}, "gzip, br"}} {
		res, body := get(t, rt, server.URL, row.sent...)
		if asked := res.Header.Get("X-Asked"); asked != row.want {
			t.Errorf("the backend was asked for %q, want %q", asked, row.want)
		}
		if body != "not really gzip" || res.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("got %q, %v", body, res.Header)
		}
	}
}

func TestNoProxyOfTheEnvironmentIsUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	if rt := transport.New(transport.Options{}); rt.Proxy != nil {
		t.Error("the transport has a proxy")
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	defer server.Close()
	if res, _ := get(t, transport.New(transport.Options{}), server.URL); res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/elsewhere" {
		t.Errorf("got %d %v", res.StatusCode, res.Header)
	}
}

func TestConnectionsAreKeptUpToTheLimit(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	rt := transport.New(transport.Options{MaxIdle: 1})
	for range 5 {
		get(t, rt, server.URL)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("5 requests opened %d connections", n)
	}
	rt.CloseIdleConnections()
	get(t, rt, server.URL)
	if n := opened.Load(); n != 2 {
		t.Errorf("after CloseIdleConnections there are %d connections, want a second one", n)
	}
}

// A request past the limit of connections waits, until its own context ends.
func TestConnectionsInAllAreLimited(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	}))
	defer server.Close()
	rt := transport.New(transport.Options{MaxConns: 1, MaxIdle: 1})
	first := make(chan struct{})
	go func() {
		defer close(first)
		get(t, rt, server.URL)
	}()
	<-arrived
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := rt.RoundTrip(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second request got %v, %v", res, err)
	}
	close(release)
	<-first
	get(t, rt, server.URL)
}

func TestLimitsAreTakenOver(t *testing.T) {
	rt := transport.New(transport.Options{Connect: 1, ResponseHeader: 2, IdleConn: 3, MaxIdle: 4, MaxConns: 5})
	if rt.TLSHandshakeTimeout != 1 || rt.ResponseHeaderTimeout != 2 || rt.IdleConnTimeout != 3 || rt.MaxIdleConns != 4 || rt.MaxIdleConnsPerHost != 4 || rt.MaxConnsPerHost != 5 {
		t.Errorf("got %+v", rt)
	}
	if rt.MaxResponseHeaderBytes <= 0 || rt.MaxResponseHeaderBytes > 1<<20 {
		t.Errorf("an answer's header may have %d bytes", rt.MaxResponseHeaderBytes)
	}
}

// Where a connection goes is the options' to say, not the URL's.
func TestConnectionsGoWhereTheOptionsSay(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto+" "+r.Host) })
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	socket := filepath.Join(t.TempDir(), "s.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	local := &http.Server{Handler: handler}
	go func() { _ = local.Serve(listener) }()
	defer local.Close()
	address := server.Listener.Addr().String()
	for _, row := range []struct {
		name, want string
		options    transport.Options
	}{
		{"an address", "HTTP/1.1 app.test", transport.Options{Address: address}},
		{"an address by HTTP/2 without TLS", "HTTP/2.0 app.test", transport.Options{Address: address, H2C: true}},
		{"a unix socket", "HTTP/1.1 app.test", transport.Options{Socket: socket}},
	} {
		if _, body := get(t, transport.New(row.options), "http://app.test/"); body != row.want {
			t.Errorf("%s: got %q, want %q", row.name, body, row.want)
		}
	}
}

package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// certificate is httptest's, for example.com and 127.0.0.1.
func certificate(t *testing.T) (*tls.Config, *http.Transport) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	client := server.Client().Transport.(*http.Transport)
	return &tls.Config{Certificates: server.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}, client.Clone()
}

func TestProtocols(t *testing.T) {
	config, client := certificate(t)
	only := func(set func(*http.Protocols)) *http.Transport {
		transport := client.Clone()
		transport.Protocols = &http.Protocols{}
		set(transport.Protocols)
		return transport
	}
	http1 := only(func(p *http.Protocols) { p.SetHTTP1(true) })
	http2 := only(func(p *http.Protocols) { p.SetHTTP2(true) })
	h2c := only(func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })
	behindProxy := http2.Clone()
	behindProxy.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			_, err = io.WriteString(conn, "PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n")
		}
		return conn, err
	}
	anybody := func(netip.Addr) bool { return true }
	for _, test := range []struct {
		name    string
		options Options
		client  *http.Transport
		scheme  string
		want    string // "": it can't be spoken
	}{
		{"HTTP/1.1 without TLS", Options{}, http1, "http", "HTTP/1.1"},
		{"HTTP/2 without TLS where it isn't asked for", Options{}, h2c, "http", ""},
		{"HTTP/2 without TLS", Options{H2C: true}, h2c, "http", "HTTP/2.0"},
		{"HTTP/1.1 beside it", Options{H2C: true}, http1, "http", "HTTP/1.1"},
		{"HTTP/1.1 over TLS", Options{TLS: config}, http1, "https", "HTTP/1.1"},
		{"HTTP/2 over TLS", Options{TLS: config}, http2, "https", "HTTP/2.0"},
		{"HTTP/2 over TLS after the header of a proxy", Options{TLS: config, ProxyHeaderFrom: anybody}, behindProxy, "https", "HTTP/2.0 203.0.113.7:4711"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := r.Proto
				if test.options.ProxyHeaderFrom != nil {
					answer += " " + r.RemoteAddr
				}
				_, _ = io.WriteString(w, answer)
			})
			s := start(t, test.options)
			defer test.client.CloseIdleConnections()
			got := ""
			response, err := (&http.Client{Transport: test.client}).Get(test.scheme + "://" + s.Addr())
			if err == nil {
				body, _ := io.ReadAll(response.Body)
				response.Body.Close()
				got = string(body)
			}
			if response != nil && response.StatusCode != http.StatusOK {
				got = ""
			}
			if got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// What checks a name for a certificate shows none of its own, so it must never reach the handler.
func TestAnotherProtocolNeverReachesTheHandler(t *testing.T) {
	config, _ := certificate(t)
	config.NextProtos = []string{"acme-tls/1"}
	s := start(t, Options{TLS: config, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler was reached") })})
	conn, err := tls.Dial("tcp", s.Addr(), &tls.Config{InsecureSkipVerify: true, NextProtos: config.NextProtos})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if answer, _ := io.ReadAll(conn); len(answer) > 0 {
		t.Errorf("the answer is %q", answer)
	}
}

func TestADrainFinishesHTTP2RequestsAndWaitsForNoIdleConnection(t *testing.T) {
	config, client := certificate(t)
	for _, test := range []struct {
		name, scheme string
		options      Options
		set          func(*http.Protocols)
	}{
		{"over TLS", "https", Options{TLS: config}, func(p *http.Protocols) { p.SetHTTP2(true) }},
		{"without TLS", "http", Options{H2C: true}, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			entered, release := make(chan struct{}), make(chan struct{})
			test.options.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/slow" {
					close(entered)
					<-release
				}
				_, _ = io.WriteString(w, r.URL.Path)
			})
			s := start(t, test.options)
			transport := client.Clone()
			transport.Protocols = &http.Protocols{}
			test.set(transport.Protocols)
			get := func(path string, transport *http.Transport) string {
				response, err := (&http.Client{Transport: transport}).Get(test.scheme + "://" + s.Addr() + path)
				if err != nil {
					return err.Error()
				}
				defer response.Body.Close()
				body, _ := io.ReadAll(response.Body)
				return string(body)
			}
			idle := transport.Clone()
			defer idle.CloseIdleConnections()
			defer transport.CloseIdleConnections()
			if got := get("/", idle); got != "/" {
				t.Fatal(got)
			}
			slow := make(chan string)
			go func() { slow <- get("/slow", transport) }()
			<-entered
			cut, err := s.Drain(t.Context(), Drain{
				Timeout: 20 * time.Second, Begin: func() { close(release) }, InFlight: func() int64 { return 1 },
				Wait: func(context.Context) error { return nil },
			})
			if got := <-slow; cut != 0 || err != nil || got != "/slow" {
				t.Errorf("Drain is %d, %v, and the request %q", cut, err, got)
			}
		})
	}
}

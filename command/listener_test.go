package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// certificateFiles writes httptest's certificate, for example.com and 127.0.0.1, into files, and returns who signed it.
func certificateFiles(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	der, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("server.crt", "CERTIFICATE", server.Certificate().Raw), write("server.key", "PRIVATE KEY", der),
		server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
}

// serveListener starts a gateway whose section server holds these keys, in front of a service that tells what it was asked.
func serveListener(t *testing.T, keys string) (public string, r *running) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("X-Forwarded-Proto"), " from ", r.Header.Get("X-Forwarded-For"))
	}))
	t.Cleanup(service.Close)
	path := file(t, "config.yaml", fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0", %s}
upstreams: {order: {url: %q, route: {auth: none}}}
`, keys, service.URL))
	r = start(t, nil, "--config", path)
	public, _ = r.addresses(t)
	return public, r
}

func TestThePublicListenerSpeaksWhatTheConfigSays(t *testing.T) {
	cert, key, roots := certificateFiles(t)
	files := fmt.Sprintf("tls: {certificates: [{cert: %q, key: %q}]}", cert, key)
	protocols := func(set func(*http.Protocols)) *http.Protocols {
		p := &http.Protocols{}
		set(p)
		return p
	}
	http1 := protocols(func(p *http.Protocols) { p.SetHTTP1(true) })
	http2 := protocols(func(p *http.Protocols) { p.SetHTTP2(true) })
	h2c := protocols(func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })
	for _, test := range []struct {
		name, keys, scheme string
		protocols          *http.Protocols
		before             string // sent before all else
		want               string
	}{
		{"HTTP/1.1 over TLS", files, "https", http1, "", "HTTP/1.1 https from 127.0.0.1"},
		{"HTTP/2 over TLS", files, "https", http2, "", "HTTP/2.0 https from 127.0.0.1"},
		{"HTTP/2 without TLS", "h2c: true", "http", h2c, "", "HTTP/2.0 http from 127.0.0.1"},
		{"HTTP/1.1 after the header of a proxy", "proxy_protocol: true, trusted_proxies: [127.0.0.1]", "http", http1,
			"PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n", "HTTP/1.1 http from 203.0.113.7"},
		{"HTTP/2 over TLS after the header of a proxy", "proxy_protocol: true, trusted_proxies: [127.0.0.1], " + files, "https", http2,
			"PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n", "HTTP/2.0 https from 203.0.113.7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			public, _ := serveListener(t, test.keys)
			transport := &http.Transport{
				Protocols: test.protocols, TLSClientConfig: &tls.Config{RootCAs: roots},
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
					if err == nil {
						_, err = io.WriteString(conn, test.before)
					}
					return conn, err
				},
			}
			defer transport.CloseIdleConnections()
			response, err := (&http.Client{Transport: transport}).Get(test.scheme + "://" + public + "/order")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if got := response.Proto + " " + string(body); got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestARenewedCertificateIsLogged(t *testing.T) {
	cert, key, _ := certificateFiles(t)
	_, r := serveListener(t, fmt.Sprintf("tls: {certificates: [{cert: %q, key: %q}]}", cert, key))
	if err := os.WriteFile(cert, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.stdout.waitFor(t, "certificates can't be read again; the old ones stay")
}

func TestCertificatesThatCantBeReadAreFoundBeforeServing(t *testing.T) {
	cert, _, _ := certificateFiles(t)
	for _, test := range []struct{ name, tls, want string }{
		{"a missing key", fmt.Sprintf("{certificates: [{cert: %q, key: missing.key}]}", cert), "server.tls.certificates[0].key: open missing.key"},
		{"a CA that isn't one", fmt.Sprintf("{certificates: [{cert: %q, key: %q}], client_ca: %q}", cert, cert, cert), "server.tls: certificate "},
	} {
		path := file(t, "config.yaml", "server: {tls: "+test.tls+"}\nupstreams: {order: {url: http://127.0.0.1:1, route: {auth: none}}}\n")
		for _, command := range [][]string{{"validate", path}, {"--config", path}} {
			code, stdout, stderr := call(t, command...)
			if code != inputWrong || !strings.Contains(stderr, test.want) {
				t.Errorf("%s: %s is %d, %q, %q", test.name, command[0], code, stdout, stderr)
			}
		}
	}
}

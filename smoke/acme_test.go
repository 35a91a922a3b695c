package smoke

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gatehouse/helper/acme/acmetest"
)

// certified sends a request for a name over TLS and returns the serial number of the certificate that the gateway showed.
func (p *process) certified(name string, a *acmetest.Authority) (serial string, err error) {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: a.Roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, p.public)
		},
	}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport, Timeout: patience}).Post("https://"+name+"/v1", "", strings.NewReader("hello"))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 || string(body) != "hello" || answer.ProtoMajor != 2 {
		return "", fmt.Errorf("%s %s %q, %w", answer.Proto, answer.Status, body, err)
	}
	shown := answer.TLS.PeerCertificates[0]
	if len(shown.DNSNames) != 1 || shown.DNSNames[0] != name {
		return "", fmt.Errorf("the certificate is for %q", shown.DNSNames)
	}
	return shown.SerialNumber.String(), nil
}

// The first client of a name gets a certificate that the authority has just signed, and a request through; after a restart
// the same certificate is shown, and the authority isn't asked.
func TestCertificatesComeByACME(t *testing.T) {
	gateway, a := build(t), acmetest.New(t)
	folder := t.TempDir()
	file, cache := filepath.Join(folder, "config.yaml"), filepath.Join(folder, "cache")
	text := fmt.Sprintf(`server: {tls: {acme: {hosts: [shop.example.test, api.example.test], email: ops@example.test, directory: %q, cache: %q}}}
upstreams: {v1: {url: %q, route: {auth: none}}}
`, a.Directory, cache, newEcho(t))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *process {
		return gateway.startWith(t, []string{"SSL_CERT_FILE=" + a.ListenerRoots(t)}, "--config", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	}
	p := start()
	_, port, err := net.SplitHostPort(p.public)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	a.Check(t, number)
	serials := map[string]string{}
	for _, name := range []string{"shop.example.test", "api.example.test"} {
		if serials[name], err = p.certified(name, a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if serials["shop.example.test"] == serials["api.example.test"] {
		t.Error("both names have the same certificate")
	}
	calls := a.Calls.Load()
	if _, err := p.certified("other.example.test", a); err == nil {
		t.Error("there is a certificate for a name that isn't configured")
	}
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	p = start()
	for name, serial := range serials {
		if got, err := p.certified(name, a); err != nil || got != serial {
			t.Errorf("after a restart, %s has the certificate %s, %v; want %s", name, got, err, serial)
		}
	}
	if more := a.Calls.Load() - calls; calls == 0 || more != 0 {
		t.Errorf("the authority was asked %d times, and then %d times more", calls, more)
	}
}

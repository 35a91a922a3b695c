package acme_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/helper/acme"
	"gatehouse/helper/acme/acmetest"
	"gatehouse/helper/certificate"
)

// listen serves TLS with the issuer's certificates, as the public listener does.
func listen(t *testing.T, listener net.Listener, issuer *acme.Issuer) {
	t.Helper()
	store, err := certificate.Load(certificate.Options{Issue: issuer.Certificate})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				server := tls.Server(conn, store.TLS())
				_ = server.Handshake()
				server.Close()
			}()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
}

func newListener(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func newIssuer(t *testing.T, a *acmetest.Authority, cache string) *acme.Issuer {
	t.Helper()
	issuer, err := acme.New(acme.Options{
		Hosts: []string{"shop.example.test", "API.example.test"}, Email: "ops@example.test", Directory: a.Directory, Cache: cache, Client: a.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

// handshake asks for a name and returns the names of the certificate.
func handshake(listener net.Listener, a *acmetest.Authority, name string) ([]string, error) {
	conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{ServerName: name, RootCAs: a.Roots})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].DNSNames, nil
}

func TestACertificateIsGotFromAnAuthorityAndKept(t *testing.T) {
	first, cache := newListener(t), filepath.Join(t.TempDir(), "acme")
	a := acmetest.New(t)
	a.Check(t, first.Addr().(*net.TCPAddr).Port)
	listen(t, first, newIssuer(t, a, cache))
	for _, name := range []string{"shop.example.test", "api.example.test"} {
		if got, err := handshake(first, a, name); err != nil || len(got) != 1 || got[0] != name {
			t.Fatalf("the certificate for %s is for %q, %v", name, got, err)
		}
	}
	calls := a.Calls.Load()
	for _, name := range []string{"other.example.test", "127.0.0.1", ""} {
		if got, err := handshake(first, a, name); err == nil {
			t.Errorf("there is a certificate for %q: %q", name, got)
		}
	}
	second := newListener(t) // a restart
	listen(t, second, newIssuer(t, a, cache))
	if got, err := handshake(second, a, "shop.example.test"); err != nil {
		t.Errorf("after a restart, the certificate is %q, %v", got, err)
	}
	if more := a.Calls.Load() - calls; more != 0 {
		t.Errorf("the authority was asked %d times more", more)
	}
}

func TestWhatCantWorkIsFoundAtStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		options acme.Options
		want    string
	}{
		{"no hosts", acme.Options{Cache: t.TempDir()}, "no hosts"},
		{"a cache that is a file", acme.Options{Hosts: []string{"a.example"}, Cache: file}, "cache: "},
		{"a cache that can't be made", acme.Options{Hosts: []string{"a.example"}, Cache: filepath.Join(file, "acme")}, "cache: "},
	} {
		if _, err := acme.New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

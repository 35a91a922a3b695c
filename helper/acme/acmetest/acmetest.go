package acmetest

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
)

// patience is how long the name server may take to start.
const patience = 10 * time.Second

// Authority signs certificates.
type Authority struct {
	Directory string         // its URL, over TLS
	Roots     *x509.CertPool // for the certificates that it signs
	Calls     atomic.Int64   // of it
	server    *httptest.Server
	handler   atomic.Pointer[http.Handler]
}

// New starts an authority that lives as long as the test. It answers after Check.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{Roots: x509.NewCertPool()}
	a.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.Calls.Add(1)
		if handler := a.handler.Load(); handler != nil {
			(*handler).ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(a.server.Close)
	a.Directory = a.server.URL + wfe.DirectoryPath
	return a
}

// Check has names checked on this port. It is called once.
func (a *Authority) Check(t testing.TB, tlsPort int) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0") // a client that is refused waits for seconds, and a handshake isn't given so many
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	signer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: 7776000}})
	front := wfe.New(quiet, store, va.New(quiet, tlsPort, tlsPort, true, names(t), store), signer, []string{"pebble.example"}, true, false, 0, 0)
	a.Roots.AddCert(signer.GetRootCert(0).Cert)
	handler := front.Handler()
	a.handler.Store(&handler)
}

// Client trusts the authority's own listener.
func (a *Authority) Client() *http.Client { return a.server.Client() }

// ListenerRoots is a file with what the authority's own listener is trusted by, as SSL_CERT_FILE names one.
func (a *Authority) ListenerRoots(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "authority.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// names starts a name server, waits until it answers, and returns its address. Pebble asks it over TCP.
func names(t testing.TB) string {
	t.Helper()
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	server, err := challtestsrv.New(challtestsrv.Config{Log: log.New(io.Discard, "", 0), DNSAddrs: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	server.SetDefaultDNSIPv4("127.0.0.1")
	server.SetDefaultDNSIPv6("")
	go server.Run()
	t.Cleanup(server.Shutdown)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}
	for deadline := time.Now().Add(patience); ; { // each round takes a connection's time
		_, err := resolver.LookupNetIP(t.Context(), "ip4", "ready.example.test.")
		if err == nil {
			return address
		}
		if time.Now().After(deadline) {
			t.Fatalf("the name server doesn't answer: %v", err)
		}
	}
}

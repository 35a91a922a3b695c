package acme_test

import (
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
)

// authority is pebble, Let's Encrypt's authority for tests, to which every name leads to 127.0.0.1.
type authority struct {
	*httptest.Server
	roots *x509.CertPool
	calls atomic.Int64
}

// newAuthority starts an authority that checks names on this TLS port.
func newAuthority(t *testing.T, tlsPort int) *authority {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	signer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: 7776000}})
	front := wfe.New(quiet, store, va.New(quiet, tlsPort, tlsPort, true, names(t), store), signer, []string{"pebble.example"}, true, false, 0, 0)
	a := &authority{roots: x509.NewCertPool()}
	a.roots.AddCert(signer.GetRootCert(0).Cert)
	handler := front.Handler()
	a.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.calls.Add(1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

// names starts a name server and returns its address.
func names(t *testing.T) string {
	t.Helper()
	probe, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.LocalAddr().String()
	probe.Close()
	server, err := challtestsrv.New(challtestsrv.Config{Log: log.New(io.Discard, "", 0), DNSAddrs: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	server.SetDefaultDNSIPv4("127.0.0.1")
	server.SetDefaultDNSIPv6("")
	go server.Run()
	t.Cleanup(server.Shutdown)
	return address
}

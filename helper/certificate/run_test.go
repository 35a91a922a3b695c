package certificate_test

import (
	"context"
	"crypto/tls"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/helper/certificate"
)

// report is what a running store told: the path of a change, or an error.
type report struct {
	changed string
	failed  error
}

// run runs a store until the test ends.
func run(t *testing.T, o certificate.Options) (*certificate.Store, <-chan report) {
	t.Helper()
	reports := make(chan report, 10)
	o.Changed = func(path string) { reports <- report{changed: path} }
	o.Failed = func(err error) { reports <- report{failed: err} }
	store := load(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- store.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
	return store, reports
}

func TestRenewedFilesAreUsed(t *testing.T) {
	old, renewed, folder := newAuthority(t), newAuthority(t), t.TempDir()
	store, reports := run(t, certificate.Options{Pairs: []certificate.Pair{old.files(t, folder, "a.example")}})
	address := listen(t, store)
	trusts := func(a *authority) bool {
		_, err := dial(t, address, &tls.Config{ServerName: "a.example", RootCAs: a.pool()})
		return err == nil
	}
	if !trusts(old) || trusts(renewed) {
		t.Fatal("the first certificate isn't shown")
	}
	pair := renewed.files(t, folder, "a.example") // certificate and key, one after the other
	if got := <-reports; got.failed != nil {
		t.Fatalf("two files renewed together are reported as %v", got.failed)
	}
	if trusts(old) || !trusts(renewed) {
		t.Error("the renewed certificate isn't shown")
	}

	write(t, pair.Key, []byte("garbage"))
	if got := <-reports; got.failed == nil || !strings.Contains(got.failed.Error(), pair.Key) {
		t.Errorf("garbage is reported as %+v", got)
	}
	if !trusts(renewed) {
		t.Error("garbage changed what is shown")
	}
	renewed.files(t, folder, "a.example")
	if got := <-reports; got.changed == "" || !trusts(renewed) {
		t.Errorf("files that are good again are reported as %+v", got)
	}
}

func TestAClientOfACAThatIsGoneCantResume(t *testing.T) {
	ca, successor, folder := newAuthority(t), newAuthority(t), t.TempDir()
	clients := write(t, filepath.Join(folder, "clients.pem"), ca.pem())
	store, reports := run(t, certificate.Options{Pairs: []certificate.Pair{ca.files(t, folder, "a.example")}, ClientCA: clients})
	address := listen(t, store)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		write(t, clients, ca.pem())
		client := &tls.Config{
			ServerName: "a.example", RootCAs: ca.pool(), Certificates: []tls.Certificate{ca.client(t)}, MaxVersion: version,
			ClientSessionCache: tls.NewLRUClientSessionCache(1),
		}
		if version == tls.VersionTLS13 {
			<-reports // the CA is back
		}
		if _, err := dial(t, address, client); err != nil {
			t.Fatal(err)
		}
		if state, err := dial(t, address, client); err != nil || !state.DidResume {
			t.Fatalf("the session isn't resumed: %v, %v", state.DidResume, err)
		}
		write(t, clients, successor.pem())
		if got := <-reports; got.changed != clients {
			t.Fatalf("the change is reported as %+v", got)
		}
		if _, err := dial(t, address, client); err == nil {
			t.Errorf("%s: a client of the old CA is let in", tls.VersionName(version))
		}
	}
}

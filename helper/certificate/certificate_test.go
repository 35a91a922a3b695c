package certificate_test

import (
	"crypto/tls"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/helper/certificate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t *testing.T, o certificate.Options) *certificate.Store {
	t.Helper()
	store, err := certificate.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// listen accepts connections, greets, and ends them, until the test ends.
func listen(t *testing.T, store *certificate.Store) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", store.TLS())
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
			_, _ = conn.Write([]byte("hello")) // makes the handshake, too
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return listener.Addr().String()
}

// dial makes a handshake and reads the greeting, without which a TLS 1.3 client doesn't know that it was refused.
func dial(t *testing.T, address string, c *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	client := tls.Client(conn, c)
	defer client.Close()
	if err := client.Handshake(); err != nil {
		return tls.ConnectionState{}, err
	}
	if _, err := io.ReadFull(client, make([]byte, len("hello"))); err != nil {
		return tls.ConnectionState{}, err
	}
	return client.ConnectionState(), nil
}

func TestTheNameChoosesTheCertificate(t *testing.T) {
	ca, folder := newAuthority(t), t.TempDir()
	address := listen(t, load(t, certificate.Options{Pairs: []certificate.Pair{ca.files(t, folder, "a.example"), ca.files(t, folder, "b.example"), ca.files(t, folder, "*.c.example")}}))
	for _, test := range []struct{ name, asked, want string }{
		{"the first", "a.example", "a.example"},
		{"the second", "b.example", "b.example"},
		{"in capitals", "B.EXAMPLE", "b.example"},
		{"by a wildcard", "any.c.example", "*.c.example"},
		{"an unknown name gets the first", "d.example", "a.example"},
		{"no name gets the first", "", "a.example"},
	} {
		state, err := dial(t, address, &tls.Config{ServerName: test.asked, InsecureSkipVerify: true})
		if err != nil || state.PeerCertificates[0].DNSNames[0] != test.want {
			t.Errorf("%s: got %v, %v", test.name, state.PeerCertificates, err)
		}
	}
}

func TestHandshakes(t *testing.T) {
	ca, other, folder := newAuthority(t), newAuthority(t), t.TempDir()
	pairs := []certificate.Pair{ca.files(t, folder, "a.example")}
	clientCA := write(t, filepath.Join(folder, "clients.pem"), ca.pem())
	pair, err := tls.X509KeyPair(ca.pair(t, "a.example"))
	if err != nil {
		t.Fatal(err)
	}
	issue := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
	challenge := []string{"acme-tls/1"}
	for _, test := range []struct {
		name    string
		options certificate.Options
		client  *tls.Config
		want    string // the protocol and version; "": refused
	}{
		{"HTTP/2 for who speaks it", certificate.Options{Pairs: pairs}, &tls.Config{NextProtos: []string{"http/1.1", "h2"}}, "h2 TLS 1.3"},
		{"HTTP/1.1 for who doesn't", certificate.Options{Pairs: pairs}, &tls.Config{NextProtos: []string{"http/1.1"}}, "http/1.1 TLS 1.3"},
		{"TLS 1.2", certificate.Options{Pairs: pairs}, &tls.Config{MaxVersion: tls.VersionTLS12}, " TLS 1.2"},
		{"TLS 1.1 is too old", certificate.Options{Pairs: pairs}, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, ""},
		{"TLS 1.2 is too old where 1.3 is asked for", certificate.Options{Pairs: pairs, MinVersion: tls.VersionTLS13}, &tls.Config{MaxVersion: tls.VersionTLS12}, ""},
		{"no forward secrecy", certificate.Options{Pairs: pairs}, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}}, ""},
		{"a client with a certificate", certificate.Options{Pairs: pairs, ClientCA: clientCA}, &tls.Config{Certificates: []tls.Certificate{ca.client(t)}}, " TLS 1.3"},
		{"a client without one", certificate.Options{Pairs: pairs, ClientCA: clientCA}, &tls.Config{}, ""},
		{"a client with another CA's", certificate.Options{Pairs: pairs, ClientCA: clientCA}, &tls.Config{Certificates: []tls.Certificate{other.client(t)}}, ""},
		{"an issued certificate", certificate.Options{Issue: issue}, &tls.Config{}, " TLS 1.3"},
		{"an authority's check, which has no certificate", certificate.Options{Issue: issue, ClientCA: clientCA}, &tls.Config{NextProtos: challenge}, "acme-tls/1 TLS 1.3"},
		{"a client that pretends to check", certificate.Options{Pairs: pairs, ClientCA: clientCA}, &tls.Config{NextProtos: challenge}, ""},
		{"a client that speaks HTTP, too", certificate.Options{Issue: issue, ClientCA: clientCA}, &tls.Config{NextProtos: []string{"acme-tls/1", "h2"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.client.ServerName, test.client.RootCAs = "a.example", ca.pool()
			state, err := dial(t, listen(t, load(t, test.options)), test.client)
			got := ""
			if err == nil {
				got = state.NegotiatedProtocol + " " + tls.VersionName(state.Version)
			}
			if got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestFilesThatAreNoGoodAreNamed(t *testing.T) {
	ca, folder := newAuthority(t), t.TempDir()
	good, another := ca.files(t, folder, "a.example"), ca.files(t, folder, "b.example")
	garbage := write(t, filepath.Join(folder, "garbage.pem"), []byte("garbage"))
	for _, test := range []struct {
		name    string
		options certificate.Options
		want    string
	}{
		{"a missing certificate", certificate.Options{Pairs: []certificate.Pair{{Cert: filepath.Join(folder, "missing.crt"), Key: good.Key}}}, "missing.crt"},
		{"a missing key", certificate.Options{Pairs: []certificate.Pair{{Cert: good.Cert, Key: filepath.Join(folder, "missing.key")}}}, "missing.key"},
		{"a key that doesn't match", certificate.Options{Pairs: []certificate.Pair{{Cert: good.Cert, Key: another.Key}}}, "b.example.key"},
		{"no certificate at all", certificate.Options{Pairs: []certificate.Pair{{Cert: garbage, Key: good.Key}}}, "garbage.pem"},
		{"no CA at all", certificate.Options{Pairs: []certificate.Pair{good}, ClientCA: garbage}, "garbage.pem has no PEM certificate"},
	} {
		if _, err := certificate.Load(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q in it", test.name, err, test.want)
		}
	}
}

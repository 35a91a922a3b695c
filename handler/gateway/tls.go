package gateway

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"gatehouse/helper/config"
)

// tlsFiles are the contents of the files of an upstream's TLS section.
type tlsFiles struct{ ca, cert, key []byte }

// readTLS reads them; errors begin with the key.
func readTLS(c config.UpstreamTLS) (f tlsFiles, err error) {
	for _, file := range []struct {
		key, path string
		into      *[]byte
	}{{"ca", c.CA, &f.ca}, {"cert", c.Cert, &f.cert}, {"key", c.Key, &f.key}} {
		if file.path == "" {
			continue
		}
		if *file.into, err = os.ReadFile(file.path); err != nil {
			return f, fmt.Errorf("%s: %w", file.key, err)
		}
	}
	return f, nil
}

// hash tells two contents apart.
func (f tlsFiles) hash() []byte {
	h := sha256.New()
	for _, content := range [][]byte{f.ca, f.cert, f.key} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(content), content) // a hash takes every write
	}
	return h.Sum(nil)
}

// config is the client's side of TLS; errors begin with the key.
func (f tlsFiles) config(c config.UpstreamTLS) (*tls.Config, error) {
	out := &tls.Config{ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify, MinVersion: tls.VersionTLS12} //nolint:gosec // the operator asked for it by name
	if f.ca != nil {
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(f.ca) {
			return nil, errors.New("ca: " + c.CA + " has no PEM certificate")
		}
	}
	if f.cert != nil {
		pair, err := tls.X509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("cert: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

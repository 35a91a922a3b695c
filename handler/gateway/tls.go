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

// readTLS reads them. Its error joins a KeyError for each that can't be; at is the key of the section.
func readTLS(at string, c config.UpstreamTLS) (f tlsFiles, err error) {
	for _, file := range []struct {
		key, path string
		into      *[]byte
	}{{"ca", c.CA, &f.ca}, {"cert", c.Cert, &f.cert}, {"key", c.Key, &f.key}} {
		if file.path == "" {
			continue
		}
		content, readErr := os.ReadFile(file.path)
		if readErr != nil {
			err = errors.Join(err, &KeyError{Key: at + "." + file.key, Err: readErr})
		}
		*file.into = content
	}
	return f, err
}

// hash tells two contents apart.
func (f tlsFiles) hash() []byte {
	h := sha256.New()
	for _, content := range [][]byte{f.ca, f.cert, f.key} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(content), content) // a hash takes every write
	}
	return h.Sum(nil)
}

// config is the client's side of TLS; its error joins a KeyError for each file of no use.
func (f tlsFiles) config(at string, c config.UpstreamTLS) (out *tls.Config, err error) {
	out = &tls.Config{ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify, MinVersion: tls.VersionTLS12} //nolint:gosec // the operator asked for it by name
	if f.ca != nil {
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(f.ca) {
			err = &KeyError{at + ".ca", fmt.Errorf("%s has no PEM certificate", c.CA), "write the file of the authority's"}
		}
	}
	if f.cert != nil {
		pair, pairErr := tls.X509KeyPair(f.cert, f.key)
		if pairErr != nil {
			wrong := fmt.Errorf("%s with the key %s: %w", c.Cert, c.Key, pairErr)
			err = errors.Join(err, &KeyError{at + ".cert", wrong, "write the PEM files of a certificate and of its own key"})
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, err
}

package command

import (
	"context"
	"crypto/tls"

	"go.uber.org/zap"

	"gatehouse/handler/gateway"
	"gatehouse/helper/acme"
	"gatehouse/helper/certificate"
	"gatehouse/helper/config"
	"gatehouse/helper/server"
)

// publicOptions are the public listener's own settings. secure is nil without TLS.
func publicOptions(cfg *config.Server, gate *gateway.Gateway, secure *certificate.Store) server.Options {
	o := server.Options{Address: cfg.Listen, Handler: gate, Watches: true, Refused: gate.Refused, H2C: cfg.H2C}
	if secure != nil {
		o.TLS = secure.TLS()
	}
	if cfg.ProxyProtocol {
		o.ProxyHeaderFrom = gate.TrustedProxy
	}
	return o
}

// work is what goes on besides serving.
func work(gate *gateway.Gateway, secure *certificate.Store) []func(context.Context) error {
	if secure == nil {
		return []func(context.Context) error{gate.Run}
	}
	return []func(context.Context) error{gate.Run, secure.Run}
}

// certificates are what the public listener shows, from files and by ACME; nil without TLS.
func certificates(cfg *config.Server, log *zap.Logger) (*certificate.Store, error) {
	if !cfg.Encrypted() {
		return nil, nil
	}
	o := certificateOptions(cfg, log)
	if a := cfg.TLS.ACME; len(a.Hosts) > 0 {
		issuer, err := acme.New(acme.Options{Hosts: a.Hosts, Email: a.Email, Directory: a.Directory, Cache: a.Cache})
		if err != nil {
			return nil, &gateway.KeyError{Key: "server.tls.acme", Err: err}
		}
		o.Issue = issuer.Certificate
	}
	return loadCertificates(o)
}

// certificateOptions are those that need nothing but the files of the configuration.
func certificateOptions(cfg *config.Server, log *zap.Logger) certificate.Options {
	if !cfg.Encrypted() {
		return certificate.Options{}
	}
	o := certificate.Options{
		ClientCA:   cfg.TLS.ClientCA,
		MinVersion: map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}[cfg.TLS.MinVersion],
		Changed:    func(path string) { log.Info("certificates read again", zap.String("file", path)) },
		Failed:     func(err error) { log.Error("certificates can't be read again; the old ones stay", zap.Error(err)) },
	}
	for _, c := range cfg.TLS.Certificates {
		o.Pairs = append(o.Pairs, certificate.Pair{Cert: c.Cert, Key: c.Key})
	}
	return o
}

func loadCertificates(o certificate.Options) (*certificate.Store, error) {
	store, err := certificate.Load(o)
	if err != nil {
		return nil, &gateway.KeyError{Key: "server.tls", Err: err, Remedy: "write the PEM files of a certificate and of its own key, and for client_ca that of the authority's"}
	}
	return store, nil
}

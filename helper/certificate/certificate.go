package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"sync/atomic"

	"gatehouse/helper/watch"
)

// challengeProtocol is what an ACME authority speaks to check that a name is ours (RFC 8737, section 6.2).
const challengeProtocol = "acme-tls/1"

// Pair is a certificate chain and its private key, as PEM files.
type Pair struct{ Cert, Key string }

// Options are what a Store keeps.
type Options struct {
	Pairs []Pair // the first is shown to who asks for an unknown name
	// ClientCA is a PEM file; set: clients must show a certificate that one of its CAs signed. "": none is asked for.
	ClientCA   string
	MinVersion uint16 // such as tls.VersionTLS13; 0: TLS 1.2
	// Issue returns the certificate for a name that isn't in files, or nil for a name that isn't its own. It answers ACME's
	// challenges too. nil: there are only the files.
	Issue func(*tls.ClientHelloInfo) (*tls.Certificate, error)

	// Changed is told when files were read again and are used from now on, with the path of the last of them; Failed is told an
	// error that names the file that can't be. Run needs both, and may call them concurrently.
	Changed func(path string)
	Failed  func(error)
}

// Store holds the certificates. Make it with Load.
type Store struct {
	options   Options
	contents  map[string][]byte // of the files, by path; Run's after Load
	current   atomic.Pointer[tls.Config]
	challenge *tls.Config
}

// Load reads all files. Its error names the file.
func Load(o Options) (*Store, error) {
	s := &Store{options: o, contents: make(map[string][]byte)}
	if o.MinVersion == 0 {
		s.options.MinVersion = tls.VersionTLS12
	}
	for _, path := range o.paths() {
		content, err := watch.Read(path)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		s.contents[path] = content
	}
	// An authority has no certificate of ours to show, so its challenges are answered without asking for one.
	s.challenge = &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{challengeProtocol}, GetCertificate: o.Issue}
	return s, s.use()
}

// paths are the files, each once.
func (o Options) paths() []string {
	var paths []string
	for _, p := range o.Pairs {
		paths = append(paths, p.Cert, p.Key)
	}
	if o.ClientCA != "" {
		paths = append(paths, o.ClientCA)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// TLS is the configuration for a server. It follows the files.
func (s *Store) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: s.options.MinVersion,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if s.options.Issue != nil && slices.Equal(hello.SupportedProtos, []string{challengeProtocol}) {
				return s.challenge, nil
			}
			return s.current.Load(), nil
		},
	}
}

// use makes the contents what new connections get.
func (s *Store) use() error {
	c := &tls.Config{MinVersion: s.options.MinVersion, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: s.options.Issue}
	for _, p := range s.options.Pairs {
		pair, err := tls.X509KeyPair(s.contents[p.Cert], s.contents[p.Key])
		if err != nil {
			return fmt.Errorf("certificate %s with the key %s: %w", p.Cert, p.Key, err)
		}
		c.Certificates = append(c.Certificates, pair)
	}
	if path := s.options.ClientCA; path != "" {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(s.contents[path]) {
			return fmt.Errorf("%s has no PEM certificate", path)
		}
	}
	s.current.Store(c)
	return nil
}

package acme

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// callTimeout is for one call of the authority.
const callTimeout = 30 * time.Second

// Options are whom to ask, and for what.
type Options struct {
	Hosts     []string // exact names, in ASCII; at least one
	Email     string   // the authority writes to it; "": to nobody
	Directory string   // URL of the authority; "": Let's Encrypt's
	Cache     string   // folder for certificates and the account's key; made if it isn't there
	Client    *http.Client
}

// Issuer has the certificates of its hosts. Make it with New.
type Issuer struct {
	hosts   map[string]bool
	manager *autocert.Manager
}

// New makes an Issuer. It asks the authority nothing yet, but makes sure that the folder can be written.
func New(o Options) (*Issuer, error) {
	if len(o.Hosts) == 0 {
		return nil, errors.New("no hosts are named")
	}
	if err := writable(o.Cache); err != nil {
		return nil, err
	}
	client := o.Client
	if client == nil {
		client = &http.Client{Timeout: callTimeout}
	}
	i := &Issuer{hosts: make(map[string]bool, len(o.Hosts))}
	for _, host := range o.Hosts {
		i.hosts[strings.ToLower(host)] = true
	}
	directory := o.Directory
	if directory == "" {
		directory = autocert.DefaultACMEDirectory
	}
	i.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Email: o.Email, Cache: autocert.DirCache(o.Cache), HostPolicy: autocert.HostWhitelist(o.Hosts...),
		Client: &acme.Client{DirectoryURL: directory, HTTPClient: client, UserAgent: "gatehouse"},
	}
	return i, nil
}

// writable makes the folder and a file in it, so that a wrong one is found at start and not by the first client.
func writable(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	file, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// Certificate returns the certificate for the name that a client asks for, from the folder or the authority, or the one that
// answers the authority's challenge. It is nil, without an error, for a name that isn't among the hosts. It is made for
// tls.Config's GetCertificate.
func (i *Issuer) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if !i.hosts[strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))] {
		return nil, nil
	}
	certificate, err := i.manager.GetCertificate(hello)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", hello.ServerName, err)
	}
	return certificate, nil
}

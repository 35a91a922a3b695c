package config

import (
	"net"
	"strings"
)

// Server is the section `server`.
type Server struct {
	// Public listener: HOST:PORT, or unix:/path.sock. Default: :8080.
	Listen string `yaml:"listen"`
	// Listener of /metrics, /healthz, /readyz, /api and the status page; never make it public. Default: 127.0.0.1:9090.
	Admin string `yaml:"admin"`
	// When set, /api and the page need `Authorization: Bearer` with it; /metrics and the health endpoints don't. Default: "".
	AdminToken Secret `yaml:"admin_token"`
	// TLS on the public listener. Default: absent, plain HTTP.
	TLS *ServerTLS `yaml:"tls"`
	// Read PROXY protocol headers (v1 and v2) from trusted_proxies, and only from them. Default: false.
	ProxyProtocol bool `yaml:"proxy_protocol"`
	// HTTP/2 without TLS on the public listener (gRPC inside a cluster). Default: false.
	H2C bool `yaml:"h2c"`
	// How long a client may take. Default: each key's own.
	Timeouts ServerTimeouts `yaml:"timeouts"`
	// Largest request header; a larger one is a 431. Default: 32KiB.
	MaxHeaderSize Size `yaml:"max_header_size"`
	// Largest request body; a larger one is a 413. 0: no limit. A route can override it. Default: 10MiB.
	MaxBodySize Size `yaml:"max_body_size"`
	// CIDRs or addresses whose X-Forwarded-*, Forwarded and X-Request-Id are believed; nobody else's are. Default: [].
	TrustedProxies []Prefix `yaml:"trusted_proxies"`
	// A file of cases (gatehouse test): a reload that fails one is rejected. Default: "".
	Tests string `yaml:"tests"`
	// How the process ends on SIGTERM and SIGINT. Default: each key's own.
	Drain Drain `yaml:"drain"`
}

// ServerTLS is the section `server.tls`.
type ServerTLS struct {
	// Certificates with their keys; several choose by SNI; re-read when the files change. Default: [].
	Certificates []Certificate `yaml:"certificates"`
	// When set, clients must show a certificate that this CA file signed. Default: "".
	ClientCA string `yaml:"client_ca"`
	// Oldest TLS version that is spoken: 1.2 or 1.3. Default: 1.2.
	MinVersion string `yaml:"min_version"`
	// Certificates by ACME. Default: off, no hosts are named.
	ACME ACME `yaml:"acme"`
}

// Certificate is a certificate chain and its private key, as PEM files.
type Certificate struct {
	// File of the chain. Default: none, required.
	Cert string `yaml:"cert"`
	// File of the private key. Default: none, required.
	Key string `yaml:"key"`
}

// ACME is the section `server.tls.acme` (RFC 8555).
type ACME struct {
	// Host names that certificates are fetched for. Default: [].
	Hosts []string `yaml:"hosts"`
	// Address that the authority writes to. Default: "".
	Email string `yaml:"email"`
	// Directory URL of the authority. Default: "", which is Let's Encrypt's.
	Directory string `yaml:"directory"`
	// Folder that certificates are kept in. Default: acme.
	Cache string `yaml:"cache"`
}

// ServerTimeouts is the section `server.timeouts`.
type ServerTimeouts struct {
	// For the whole request header. Default: 5s.
	ReadHeader Duration `yaml:"read_header"`
	// For the next request on a kept connection. Default: 75s.
	Idle Duration `yaml:"idle"`
	// A client that takes no byte of its answer for this long is cut. Default: 60s.
	WriteIdle Duration `yaml:"write_idle"`
}

// Drain is the section `server.drain`.
type Drain struct {
	// Between /readyz failing and the listener closing. Default: 0s.
	Delay Duration `yaml:"delay"`
	// For the requests in flight to finish. Default: 30s.
	Timeout Duration `yaml:"timeout"`
}

// Encrypted says whether the public listener speaks TLS: a certificate is there, or hosts that one is fetched for.
func (s *Server) Encrypted() bool {
	return s.TLS != nil && (len(s.TLS.Certificates) > 0 || len(s.TLS.ACME.Hosts) > 0)
}

func (s *Server) validate(at section) {
	at.at("listen").listener(s.Listen)
	at.at("admin").listener(s.Admin)
	if s.Listen == s.Admin && !strings.HasSuffix(s.Listen, ":0") {
		at.at("admin").refuse("is the public listener's address: write another, such as 127.0.0.1:9090")
	}
	if s.TLS != nil {
		s.TLS.validate(at.at("tls"))
		if !s.Encrypted() && (s.TLS.ClientCA != "" || s.TLS.MinVersion != "1.2") { // all defaults are as good as no section
			at.at("tls").refuse("has no certificate, so nothing would be encrypted: write certificates, or the hosts for acme")
		}
	}
	if s.H2C && s.Encrypted() {
		at.at("h2c").refuse("has no effect with tls, where HTTP/2 is spoken anyway: remove one of them")
	}
	if s.ProxyProtocol && (len(s.TrustedProxies) == 0 || strings.HasPrefix(s.Listen, "unix:")) {
		at.at("proxy_protocol").refuse("has no effect without trusted_proxies on a HOST:PORT listener, as it is read from them only: write their addresses, or remove it")
	}
	at.at("tests").file(s.Tests)
	timeouts := at.at("timeouts")
	timeouts.at("read_header").positive(s.Timeouts.ReadHeader)
	timeouts.at("idle").positive(s.Timeouts.Idle)
	timeouts.at("write_idle").positive(s.Timeouts.WriteIdle)
	if s.MaxHeaderSize < 1<<10 || s.MaxHeaderSize > 16<<20 {
		at.at("max_header_size").refuse("%s is out of range: write a size from 1KiB to 16MiB", at.at("max_header_size").written())
	}
	at.at("drain").at("timeout").positive(s.Drain.Timeout)
}

func (t *ServerTLS) validate(at section) {
	for i, certificate := range t.Certificates {
		item := at.at("certificates").item(i)
		item.at("cert").needed(certificate.Cert, "the file of the certificate chain")
		item.at("key").needed(certificate.Key, "the file of its private key")
		item.at("cert").file(certificate.Cert)
		item.at("key").file(certificate.Key)
	}
	at.at("client_ca").file(t.ClientCA)
	at.at("min_version").oneOf(t.MinVersion, "1.2", "1.3")
	t.ACME.validate(at.at("acme"))
}

func (a *ACME) validate(at section) {
	at.at("hosts").hosts(a.Hosts)
	for i, host := range a.Hosts {
		if strings.HasPrefix(host, "*.") || net.ParseIP(host) != nil || !strings.Contains(host, ".") {
			at.at("hosts").item(i).refuse("%s can't be checked over TLS: write a whole public name, such as api.example.com", at.at("hosts").item(i).written())
		}
	}
	if len(a.Hosts) == 0 && (a.Email != "" || a.Directory != "") {
		at.refuse("has no effect without hosts: write them, or remove it")
	}
	if a.Directory != "" {
		at.at("directory").webURL(a.Directory)
	}
	at.at("cache").needed(a.Cache, "the folder that certificates are kept in")
}

package upstream

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
)

// Backend is one server of an upstream.
type Backend struct {
	Name      string     // the URL as configured: the label in metrics and logs
	Address   netip.Addr // of the host in Name, where that is followed; else the zero Addr
	Target    *url.URL   // where requests go, as net/http understands it
	Transport http.RoundTripper
	Handler   http.Handler // the reverse proxy that sends a request through Transport
	// MaxConns is how many requests the backend has connections for; 0: as many as come.
	MaxConns int64

	configured *Backend // what Name stands for in the config; nil: this one
	inFlight   atomic.Int64
	draining   atomic.Bool
}

// NewBackend makes the backend at rawURL: http, https, h2c (HTTP/2 without TLS)
// or unix:/path.sock.
func NewBackend(rawURL string, transport http.RoundTripper) (*Backend, error) {
	target, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("parsing the URL of backend %s: %w", rawURL, err)
	}
	switch target.Scheme {
	case "h2c":
		target.Scheme = "http"
	case "unix":
		target = &url.URL{Scheme: "http", Host: "localhost"} // as curl --unix-socket is usually told
	}
	return &Backend{Name: rawURL, Target: target, Transport: transport}, nil
}

// Socket is the path of a backend's unix socket, "" when it has none.
func Socket(rawURL string) string {
	path, ok := strings.CutPrefix(rawURL, "unix:")
	if !ok {
		return ""
	}
	return path
}

// at makes b one of the addresses of a configured backend.
func (b *Backend) at(configured *Backend, address netip.Addr) {
	b.configured, b.Address = configured, address
}

// id tells the backends of a pool apart.
func (b *Backend) id() string {
	if !b.Address.IsValid() {
		return b.Name
	}
	return b.Name + " at " + b.Address.String()
}

// acquire takes a place and returns how many are taken.
func (b *Backend) acquire() int64 {
	if b.configured != nil {
		b.configured.inFlight.Add(1)
	}
	return b.inFlight.Add(1)
}

func (b *Backend) release() {
	b.inFlight.Add(-1)
	if b.configured != nil {
		b.configured.inFlight.Add(-1)
	}
}

// InFlight is how many requests the backend has now; for a host name that is
// followed, all of its addresses together.
func (b *Backend) InFlight() int64 { return b.inFlight.Load() }

// Drain says whether the backend, with every address of it, gets no new request.
// It holds until it is said otherwise, also over reloads that keep the backend.
func (b *Backend) Drain(on bool) {
	if b.configured != nil {
		b = b.configured
	}
	b.draining.Store(on)
}

// Draining says whether the backend gets no new request because of Drain.
func (b *Backend) Draining() bool {
	if b.configured != nil {
		b = b.configured
	}
	return b.draining.Load()
}

// CloseIdle closes the connections that no request uses.
func (b *Backend) CloseIdle() {
	if t, ok := b.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

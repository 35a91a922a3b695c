package clientip

import (
	"net/http"
	"net/netip"
)

// Client is where a request comes from.
type Client struct {
	Addr    netip.Addr // the client's; the zero Addr for a peer without one, such as a Unix socket's
	Peer    netip.Addr // the other end of the connection
	Trusted bool       // Peer is a trusted proxy, so its forwarding headers and request id are believed
}

// String returns the client's address, or "unix" where there is none.
func (c Client) String() string {
	if !c.Addr.IsValid() {
		return "unix"
	}
	return c.Addr.String()
}

// Resolver tells clients from the proxies before them.
type Resolver struct {
	trusted []netip.Prefix
}

// NewResolver returns a Resolver that believes the forwarding headers of peers within the trusted networks.
func NewResolver(trusted []netip.Prefix) *Resolver { return &Resolver{trusted: trusted} }

// Resolve returns the client of a request that came from remoteAddr (http.Request.RemoteAddr) with the header h.
func (r *Resolver) Resolve(remoteAddr string, h http.Header) Client { return Client{} }

// LimitKey returns the key under which requests from addr are counted.
func LimitKey(addr netip.Addr) [16]byte { return [16]byte{} }

// Forwarding has the values of the forwarding headers for the upstream; a header whose value is empty is to be removed.
type Forwarding struct {
	For       string // X-Forwarded-For
	Host      string // X-Forwarded-Host
	Proto     string // X-Forwarded-Proto
	Forwarded string // Forwarded (RFC 7239)
}

// Forwarding returns the forwarding headers for the upstream call of the inbound request r, which c was resolved from.
func (c Client) Forwarding(r *http.Request) Forwarding { return Forwarding{} }

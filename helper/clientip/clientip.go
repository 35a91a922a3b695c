package clientip

import (
	"net/http"
	"net/netip"
	"strings"
)

// Client is where a request comes from. Its addresses are never IPv4 in IPv6 and have no zone.
type Client struct {
	Addr    netip.Addr // the client's; the zero Addr for a peer without one, such as a Unix socket's
	Peer    netip.Addr // the other end of the connection; the zero Addr as above
	Trusted bool       // Peer is a trusted proxy, so its forwarding headers and request id are believed

	text string // what String has returned; "": nothing yet
}

// String returns the client's address, or "unix" where there is none. It isn't safe for concurrent use.
func (c *Client) String() string {
	switch {
	case c.text != "":
	case c.Addr.IsValid():
		c.text = c.Addr.String()
	default:
		c.text = "unix"
	}
	return c.text
}

// Resolver tells clients from the proxies before them.
type Resolver struct {
	trusted []netip.Prefix
}

// NewResolver returns a Resolver that believes the forwarding headers of peers within the trusted networks. A network
// of IPv4 in IPv6 addresses stands for the IPv4 one. A peer without an address is never trusted.
func NewResolver(trusted []netip.Prefix) *Resolver {
	r := &Resolver{trusted: make([]netip.Prefix, len(trusted))}
	for i, p := range trusted {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		r.trusted[i] = p
	}
	return r
}

// Resolve returns the client of a request that came from remoteAddr (http.Request.RemoteAddr) with the header h.
//
// Behind a trusted peer it walks X-Forwarded-For from its right end, over all its lines, or without one the for
// parameters of Forwarded (RFC 7239, section 5.2), to the first address that isn't a trusted proxy's. What isn't an
// address ends the walk at the last good one, since whoever wrote it can't be told.
func (r *Resolver) Resolve(remoteAddr string, h http.Header) Client {
	peer := parseNode(remoteAddr)
	c := Client{Addr: peer, Peer: peer, Trusted: r.Trusts(peer)}
	if !c.Trusted {
		if host, _, ok := strings.Cut(remoteAddr, ":"); ok && peer.Is4() && host[0] >= '0' && host[0] <= '9' {
			c.text = host // what net/netip would write: it has read it
		}
		return c
	}
	if lines := h["X-Forwarded-For"]; len(lines) > 0 {
		c.Addr = r.walkList(lines, peer)
	} else if lines := h["Forwarded"]; len(lines) > 0 {
		c.Addr = r.walkForwarded(lines, peer)
	}
	return c
}

// Trusts says whether addr is a trusted proxy's.
func (r *Resolver) Trusts(addr netip.Addr) bool {
	for _, p := range r.trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// walkList walks X-Forwarded-For from the right, cutting off an entry at a time, so that the part a client may have
// made up isn't even looked at.
func (r *Resolver) walkList(lines []string, client netip.Addr) netip.Addr {
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			comma := strings.LastIndexByte(rest, ',')
			addr := parseNode(rest[comma+1:])
			if !addr.IsValid() {
				return client
			}
			client = addr
			if !r.Trusts(addr) {
				return client
			}
			rest, more = rest[:max(comma, 0)], comma >= 0
		}
	}
	return client
}

func (r *Resolver) walkForwarded(lines []string, client netip.Addr) netip.Addr {
	var room [16]netip.Addr
	chain, ok := parseForwarded(room[:0], lines)
	if !ok {
		return client
	}
	for i := len(chain) - 1; i >= 0 && chain[i].IsValid(); i-- {
		client = chain[i]
		if !r.Trusts(client) {
			break
		}
	}
	return client
}

// parseNode reads an address with or without brackets and port: the form of a remote address, an X-Forwarded-For entry
// and the node of RFC 7239, section 6. It returns the zero Addr for anything else.
func parseNode(s string) netip.Addr {
	s = strings.Trim(s, " \t")
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		var found bool
		if host, port, found = strings.Cut(s[1:], "]"); !found {
			return netip.Addr{}
		}
	} else if colon := strings.IndexByte(s, ':'); colon >= 0 && colon == strings.LastIndexByte(s, ':') {
		host, port = s[:colon], s[colon:]
	}
	if port != "" && !validPort(port) {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// validPort reports whether s is a colon and a port, or one of the names that RFC 7239, section 6.3, allows instead.
func validPort(s string) bool {
	if len(s) < 2 || s[0] != ':' {
		return false
	}
	if s[1] == '_' {
		return true
	}
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) <= len(":65535")
}

// LimitKey returns the key under which requests from addr are counted. An IPv4 address counts for itself, an IPv6
// address for its /64, which is what one subscriber gets and can choose freely in, and all that have no address share
// a key.
func LimitKey(addr netip.Addr) [16]byte {
	if !addr.IsValid() {
		return [16]byte{15: 1} // no masked IPv6 address ends in 1, and no IPv4 address in IPv6 begins like this
	}
	key := addr.As16()
	if addr.Is6() && !addr.Is4In6() {
		clear(key[8:])
	}
	return key
}

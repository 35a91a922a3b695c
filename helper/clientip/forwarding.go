package clientip

import (
	"net/http"
	"strings"
)

// Forwarding has the values of the forwarding headers for the upstream. A header whose value is empty is to be removed.
type Forwarding struct {
	For       string // X-Forwarded-For
	Host      string // X-Forwarded-Host
	Proto     string // X-Forwarded-Proto: http or https; ws or wss if a trusted proxy said so
	Forwarded string // Forwarded (RFC 7239)
}

// Forwarding returns the forwarding headers for the upstream call of the inbound request r, which c was resolved from.
// From an untrusted peer they tell of this connection only. A trusted proxy's X-Forwarded-Host and -Proto are kept
// where they can be one host and one scheme, and its chain is continued with its own address.
//
// Both chains lead to the same client. A proxy that knows one of the two headers passes the other on as a client made
// it up, so only the chain that Resolve walked is continued, and the other begins at the client that was found.
func (c *Client) Forwarding(r *http.Request) Forwarding {
	f := Forwarding{Host: r.Host, Proto: "http"}
	if r.TLS != nil {
		f.Proto = "https"
	}
	var room [128]byte
	if !c.Trusted {
		f.Forwarded = string(appendElement(room[:0], c.Peer, f.Host, f.Proto))
		if c.Peer.IsValid() {
			f.For = c.String() // an untrusted peer is the client
		}
		return f
	}
	f.For = c.list(room[:0], r.Header)
	f.Forwarded = c.forwarded(room[:0], r.Header, f.Host, f.Proto)
	if host := only(r.Header["X-Forwarded-Host"]); plausibleHost(host) {
		f.Host = host
	}
	if proto := strings.ToLower(only(r.Header["X-Forwarded-Proto"])); plausibleProto(proto) {
		f.Proto = proto
	}
	return f
}

// list returns the value of X-Forwarded-For behind a trusted proxy.
func (c *Client) list(b []byte, h http.Header) string {
	if lines := h["X-Forwarded-For"]; len(lines) > 0 {
		b = appendLines(b, lines)
	} else if c.Addr != c.Peer {
		b = append(c.Addr.AppendTo(b), ", "...)
	}
	return string(c.Peer.AppendTo(b))
}

// forwarded returns the value of Forwarded behind a trusted proxy.
func (c *Client) forwarded(b []byte, h http.Header, host, proto string) string {
	lines := h["Forwarded"]
	believed := len(lines) > 0 && len(h["X-Forwarded-For"]) == 0
	if believed {
		_, believed = parseForwarded(nil, lines) // a quote that is never closed would swallow what is appended
	}
	if believed {
		b = appendLines(b, lines)
	} else if c.Addr != c.Peer {
		b = append(appendFor(b, c.Addr), ", "...)
	}
	return string(appendElement(b, c.Peer, host, proto))
}

// appendLines appends each line, and a comma after it. An empty line ends a walk, so only those that nothing stands
// before are left out.
func appendLines(b []byte, lines []string) []byte {
	for _, line := range lines {
		if line = strings.Trim(line, blanks); line != "" || len(b) > 0 {
			b = append(append(b, line...), ", "...)
		}
	}
	return b
}

// only returns the line of a header that has exactly one.
func only(lines []string) string {
	if len(lines) != 1 {
		return ""
	}
	return lines[0]
}

// plausibleHost reports whether s can be one host name or address, with or without a port.
func plausibleHost(s string) bool {
	for _, c := range []byte(s) {
		if !isAlphanumeric(c) && strings.IndexByte("-._:[]", c) < 0 {
			return false
		}
	}
	return s != "" && len(s) <= 262 // 255 and a port
}

func plausibleProto(s string) bool {
	return s == "http" || s == "https" || s == "ws" || s == "wss"
}

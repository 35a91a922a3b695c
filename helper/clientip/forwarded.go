package clientip

import (
	"net/netip"
	"strings"
)

const blanks = " \t"

// parseForwarded appends to chain the address of each element of a Forwarded header (RFC 7239, section 4), the zero
// Addr for one that names none. It reads from the left, because only so a comma in a quoted string can be told from
// one between elements. ok is false if the header is malformed, and then none of it can be relied on.
func parseForwarded(chain []netip.Addr, lines []string) (_ []netip.Addr, ok bool) {
	for _, rest := range lines {
		for more := true; more; {
			var addr netip.Addr
			if addr, rest, more, ok = parseElement(rest); !ok {
				return nil, false
			}
			chain = append(chain, addr)
		}
	}
	return chain, true
}

// parseElement reads the element at the start of s, and says whether a comma and more follows it.
func parseElement(s string) (addr netip.Addr, rest string, more, ok bool) {
	seen := false
	for {
		s = strings.TrimLeft(s, blanks)
		if i := strings.IndexAny(s, "=,;"); i >= 0 && s[i] == '=' {
			name := s[:i]
			var value string
			if value, s, ok = parseValue(s[i+1:]); !ok || !isToken(name) {
				return netip.Addr{}, "", false, false
			}
			if strings.EqualFold(name, "for") {
				if seen { // section 4: each parameter at most once
					return netip.Addr{}, "", false, false
				}
				addr, seen = parseNode(value), true
			}
		}
		s = strings.TrimLeft(s, blanks)
		switch {
		case s == "":
			return addr, "", false, true
		case s[0] == ',':
			return addr, s[1:], true, true
		case s[0] == ';':
			s = s[1:]
		default:
			return netip.Addr{}, "", false, false
		}
	}
}

// parseValue reads a token or quoted string. Escapes stay as they are: no address needs one. Colons and brackets are
// taken without quotes too, as many proxies write them.
func parseValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ",;"+blanks)
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], strings.IndexByte(s[:end], '"') < 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return s[1:i], s[i+1:], true
		case '\\':
			i++
		}
	}
	return "", "", false
}

// appendElement appends the Forwarded element for a request from addr.
func appendElement(b []byte, addr netip.Addr, host, proto string) []byte {
	b = appendFor(b, addr)
	if host != "" {
		b = append(b, ";host="...)
		b = appendValue(b, host)
	}
	b = append(b, ";proto="...)
	return append(b, proto...)
}

// appendFor appends the for parameter: an IPv6 address in brackets and quotes (RFC 7239, section 6), and "unknown" for
// a peer without an address (section 6.2).
func appendFor(b []byte, addr netip.Addr) []byte {
	switch {
	case !addr.IsValid():
		return append(b, "for=unknown"...)
	case addr.Is6():
		b = append(b, `for="[`...)
		b = addr.AppendTo(b)
		return append(b, `]"`...)
	}
	return addr.AppendTo(append(b, "for="...))
}

// appendValue appends s, as a quoted string if it isn't a token (RFC 9110, section 5.6).
func appendValue(b []byte, s string) []byte {
	if isToken(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	for _, c := range []byte(s) {
		if c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

func isToken(s string) bool {
	for _, c := range []byte(s) {
		if !isAlphanumeric(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

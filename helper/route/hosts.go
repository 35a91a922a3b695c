package route

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// byHost holds the rules of one path by the host that they name. It is small too: in a large table the time goes into memory
// that isn't in the cache.
type byHost struct {
	any   ranking
	named *namedHosts // nil: every rule is for any host
}

type namedHosts struct {
	exact    map[string]ranking
	wildcard map[string]ranking // "example.com" for "*.example.com"
}

// ranking is rules in order of specificity. The first stands in the ranking itself, and so in the map's own memory: most
// hosts have one rule, which then costs no further look into memory.
type ranking struct {
	first compiled // without conditions there is no rule
	rest  []compiled
}

// add files c under each of its hosts, which come from canonicalPattern. An empty list is any host.
func (b *byHost) add(hosts []string, c compiled) {
	if len(hosts) == 0 {
		b.any = b.any.with(c)
	} else if b.named == nil {
		b.named = &namedHosts{exact: map[string]ranking{}, wildcard: map[string]ranking{}}
	}
	for _, host := range hosts {
		if suffix, ok := strings.CutPrefix(host, "*."); ok {
			b.named.wildcard[suffix] = b.named.wildcard[suffix].with(c)
		} else {
			b.named.exact[host] = b.named.exact[host].with(c)
		}
	}
}

// with returns the ranking with c. Rules come in their order in the file.
func (r ranking) with(c compiled) ranking {
	switch {
	case r.first.conditions == nil:
		return ranking{first: c}
	case c.count() > r.first.count():
		return ranking{first: c, rest: slices.Insert(r.rest, 0, r.first)}
	}
	at, _ := slices.BinarySearchFunc(r.rest, c, func(other, c compiled) int {
		return cmp.Or(cmp.Compare(c.count(), other.count()), -1)
	})
	return ranking{first: r.first, rest: slices.Insert(r.rest, at, c)}
}

// walk visits the rules, the most specific first, until visit returns true, and returns whether it did.
func (r ranking) walk(visit func(compiled) bool) bool {
	if r.first.conditions == nil {
		return false
	}
	if visit(r.first) {
		return true
	}
	for i := range r.rest {
		if visit(r.rest[i]) {
			return true
		}
	}
	return false
}

// walk visits the rules for host, the most specific first, until visit returns true, and returns whether it did.
func (b *byHost) walk(host string, visit func(compiled) bool) bool {
	return b.named != nil && b.named.walk(host, visit) || b.any.walk(visit)
}

func (n *namedHosts) walk(host string, visit func(compiled) bool) bool {
	if rules, ok := n.exact[host]; ok && rules.walk(visit) {
		return true
	}
	if len(n.wildcard) > 0 {
		for _, suffix, ok := strings.Cut(host, "."); ok; _, suffix, ok = strings.Cut(suffix, ".") {
			if rules, found := n.wildcard[suffix]; found && rules.walk(visit) {
				return true
			}
		}
	}
	return false
}

// canonicalPattern brings a host of a rule into the form that CanonicalHost gives to a request's, with "*." kept.
func canonicalPattern(pattern string) (string, error) {
	name, wildcard := strings.CutPrefix(pattern, "*.")
	host, ok := CanonicalHost(name)
	_, port := cutPort(name)
	if !ok || port || wildcard && strings.Contains(host, ":") {
		return "", fmt.Errorf("host %q is neither a name without port nor *.name", pattern)
	}
	if wildcard {
		return "*." + host, nil
	}
	return host, nil
}

// CanonicalHost returns the host of a Host header or :authority (RFC 9110 section 7.2) in lower case, without port, final
// dot and brackets. It returns false for what names no host: an empty one, one with user information, spaces, control
// characters, bytes outside ASCII or an empty label, or one longer than a DNS name can be. It allocates only if the host
// wasn't canonical.
func CanonicalHost(hostport string) (string, bool) {
	host, hasPort := cutPort(hostport)
	if hasPort && !isPort(hostport[len(host)+1:]) {
		return "", false
	}
	if inside, ok := strings.CutPrefix(host, "["); ok {
		return canonicalIPv6(inside)
	}
	host = strings.TrimSuffix(host, ".")
	// 253 bytes are the longest name in DNS; without a bound, a hostile name has as many labels to look up as it likes.
	if host == "" || len(host) > 253 {
		return "", false
	}
	upper, previous := false, byte('.')
	for i := range len(host) {
		c := host[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		case 'A' <= c && c <= 'Z':
			upper = true
		case c == '.' && previous != '.':
		default:
			return "", false
		}
		previous = c
	}
	if previous == '.' {
		return "", false
	}
	if upper {
		host = strings.ToLower(host)
	}
	return host, true
}

// cutPort splits at the colon that isn't part of an IPv6 address.
func cutPort(hostport string) (host string, found bool) {
	colon := strings.LastIndexByte(hostport, ':')
	if colon < 0 || colon < strings.LastIndexByte(hostport, ']') {
		return hostport, false
	}
	return hostport[:colon], true
}

// isPort allows an empty port, as RFC 3986 section 3.2.3 does.
func isPort(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) <= 5
}

func canonicalIPv6(inside string) (string, bool) {
	host, ok := strings.CutSuffix(inside, "]")
	if !ok {
		return "", false
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", false
	}
	var buffer [64]byte
	if text := addr.AppendTo(buffer[:0]); string(text) != host {
		return string(text), true
	}
	return host, true
}

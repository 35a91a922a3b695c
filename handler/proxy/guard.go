package proxy

import (
	"net/http"
	"strings"

	"gatehouse/helper/field"
)

// Guard knows the header names that a client may not set. A name is known in
// every spelling that some server maps to the same variable: letters in any
// case, and any byte that is no letter or digit for a dash. It doesn't change
// after NewGuard and is safe for concurrent use.
type Guard struct {
	names map[string]bool // canonical name → is it an identity header
}

// gatewayHeaders are set or decided by the gateway on every route.
var gatewayHeaders = [...]string{"X-Request-Id", "Traceparent"}

// forwardingHeaders are believed from trusted proxies only; names that begin
// with X-Forwarded- too.
var forwardingHeaders = [...]string{"Forwarded", "X-Real-Ip", "X-Original-Url", "X-Rewrite-Url"}

const forwardedPrefix = "X-Forwarded-"

// NewGuard makes a guard. identity lists every header that any route's
// authentication may set: they are removed on each route, also on one without
// authentication, because an upstream can't know by which route a call came.
// credentials are headers for the gateway alone, which clients may well send.
func NewGuard(identity []string, credentials ...string) *Guard {
	g := &Guard{names: make(map[string]bool)}
	for _, name := range gatewayHeaders {
		g.names[name] = false
	}
	for _, name := range credentials {
		g.names[field.Spelling(name)] = false
	}
	for _, name := range identity {
		g.names[field.Spelling(name)] = true
	}
	return g
}

// Strip removes the protected headers from h and reports whether an identity
// header was among them. Forwarding headers stay when the client is a trusted
// proxy and spells them with dashes.
func (g *Guard) Strip(h http.Header, trusted bool) (spoofed bool) {
	for name := range h {
		plain := field.Plain(name)
		if identity, protected := g.names[plain]; protected {
			delete(h, name)
			spoofed = spoofed || identity
		} else if isForwarding(plain) && (!trusted || plain != name) {
			delete(h, name)
		}
	}
	return spoofed
}

// Spoofed reports whether h has an identity header, and leaves h alone.
func (g *Guard) Spoofed(h http.Header) bool {
	for name := range h {
		if g.names[field.Plain(name)] {
			return true
		}
	}
	return false
}

func isForwarding(name string) bool {
	if strings.HasPrefix(name, forwardedPrefix) {
		return true
	}
	for _, f := range forwardingHeaders {
		if f == name {
			return true
		}
	}
	return false
}

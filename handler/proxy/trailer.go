package proxy

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"gatehouse/helper/exchange"
	"gatehouse/helper/field"
)

// dropTrailers removes from trailers what no backend may read there. A server may
// merge trailers into the header, long after the gateway has decided by that, and
// one that speaks HTTP/2 takes some of them for an error of the connection.
func dropTrailers(trailers http.Header) {
	for name := range trailers {
		if !httpguts.ValidHeaderFieldName(name) || !mayTrail(field.Plain(name)) {
			delete(trailers, name)
		}
	}
}

// scrubTrailers removes from an answer's trailers what may not stand there, and what the
// gateway has said itself in the header: a client may merge the two.
func scrubTrailers(ex *exchange.Exchange, trailers http.Header) {
	for name := range trailers {
		if !mayTrail(field.Plain(name)) || ex.Sets(name) {
			delete(trailers, name)
		}
	}
}

// mayTrail says whether a header, in its plain spelling, may stand behind a body.
// Not those for framing, routing, authentication, content, or that modify the
// request (RFC 9110 section 6.5.1).
func mayTrail(plain string) bool {
	switch plain {
	case "Content-Digest":
		return true // known only at the end (RFC 9530 section 2)
	case "Cookie", "Set-Cookie", "Upgrade", "Http2-Settings", "Via", "Origin", "Tracestate":
		return false
	}
	return !strings.HasPrefix(plain, "Content-") && !strings.HasPrefix(plain, "Proxy-") && httpguts.ValidTrailerHeader(plain)
}

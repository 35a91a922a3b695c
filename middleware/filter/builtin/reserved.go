package builtin

import (
	"fmt"
	"strings"

	"gatehouse/helper/field"
)

// reserved are the request headers that only the gateway decides about, by their plain spelling, with the reason.
type reserved map[string]string

const (
	framing    = "it belongs to one connection or frames the message"
	forwarding = "it tells the upstream where the request came from"
	identified = "it tells the upstream who calls"
	tracing    = "it tells requests apart in logs and traces"
	routing    = "the upstream's key host decides about it"
	coding     = "it says how the body is coded"
)

// framingHeaders are for one hop (RFC 9110, section 7.6.1), or say where a message ends (RFC 9112, section 6).
var framingHeaders = [...]string{"Connection", "Content-Length", "Expect", "Http2-Settings", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func newReserved(identity []string) reserved {
	r := reserved{
		"Host": routing, "Forwarded": forwarding, "X-Real-Ip": forwarding, "X-Original-Url": forwarding, "X-Rewrite-Url": forwarding,
		"X-Request-Id": tracing, "Traceparent": tracing, "Tracestate": tracing,
	}
	for _, name := range framingHeaders {
		r[name] = framing
	}
	for _, name := range identity {
		r[field.Spelling(name)] = identified
	}
	return r
}

// check refuses a header that is reserved, in any spelling.
func (r reserved) check(name string) error {
	plain := field.Plain(name)
	reason, found := r[plain]
	if strings.HasPrefix(plain, "X-Forwarded-") {
		reason, found = forwarding, true
	}
	if found {
		return fmt.Errorf("%s is the gateway's alone: %s", name, reason)
	}
	return nil
}

// answers are the headers of an answer that a filter may not touch.
func answers() reserved {
	r := reserved{"X-Request-Id": tracing, "Content-Encoding": coding, "Content-Range": coding}
	for _, name := range framingHeaders {
		r[name] = framing
	}
	return r
}

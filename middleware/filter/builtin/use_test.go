package builtin_test

import (
	"strings"
	"testing"
)

func TestAUseThatMakesNoSenseIsRefused(t *testing.T) {
	registry := newRegistry(t)
	for _, test := range []struct {
		name, auth, item string
		want             string // "": accepted
	}{
		{"request_id takes no argument", "jwt", "request_id:x", "takes no argument"},
		{"strip_identity takes none either", "jwt", "strip_identity:", "takes no argument"},
		{"compress takes none either", "jwt", "compress:gzip", "takes no argument"},
		{"api_key on a route that takes keys", "any", "api_key", ""},
		{"api_key on an open route", "none", "api_key", "checks no API keys"},
		{"api_key on a route that takes tokens alone", "jwt", "api_key", "checks no API keys"},
		{"scope on an open route", "none", "scope:order", "auth: none"},
		{"scope without a scope", "jwt", "scope", "needs a scope"},
		{"two scopes in one", "jwt", "scope:order admin", "is not a scope"},
		{"a rate that isn't one", "jwt", "rate_limit:60", "is not a rate"},
		{"a rate far over one a nanosecond", "jwt", "rate_limit:9999999999/s", "is not a rate"},
		{"a size that isn't one", "jwt", "body_limit:1MB", "is not a size"},
		{"a network that isn't one", "jwt", "ip_allow:10.0.0.0/8,intranet", "item 2 is not a CIDR"},
		{"no network", "jwt", "ip_deny:", "needs networks"},
		{"a header for the upstream", "jwt", "set_request_header:X-Tenant=acme", ""},
		{"a credential for the upstream", "jwt", "set_request_header:Authorization=Basic eDp5", ""},
		{"an identity header", "jwt", "set_request_header:X-User-Id=admin", "X-User-Id is the gateway's alone"},
		{"an identity header in another spelling", "jwt", "set_request_header:x_user.id=admin", "the gateway's alone"},
		{"another configured identity header", "none", "set_request_header:x-team=admin", "X-Team is the gateway's alone"},
		{"an identity header taken away", "jwt", "remove_request_header:X-User-Id", "the gateway's alone"},
		{"a forwarding header", "jwt", "set_request_header:X-Forwarded-Anything=1", "where the request came from"},
		{"a forwarding header taken away", "jwt", "remove_request_header:Forwarded", "where the request came from"},
		{"a framing header", "jwt", "set_request_header:Transfer-Encoding=chunked", "frames the message"},
		{"a framing header taken away", "jwt", "remove_request_header:content-length", "frames the message"},
		{"the host", "jwt", "set_request_header:Host=other", "key host"},
		{"the request id", "jwt", "set_request_header:X-Request-ID=1", "tells requests apart"},
		{"a header of the answer", "jwt", "set_response_header:Cache-Control=no-store, private", ""},
		{"a framing header of the answer", "jwt", "set_response_header:Content-Length=0", "frames the message"},
		{"the answer's coding", "jwt", "remove_response_header:Content-Encoding", "how the body is coded"},
		{"the answer's request id", "jwt", "remove_response_header:X-Request-Id", "tells requests apart"},
		{"the answer's type, which would be guessed", "jwt", "remove_response_header:content-type", "set it instead"},
		{"a line break in a header", "jwt", "set_response_header:X-A=b\r\nSet-Cookie: c", "can't stand in a header"},
	} {
		err := registry.Check("orders", test.auth, test.item)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q is %v, want %q", test.name, test.item, err, test.want)
		}
	}
}

func TestEveryFilterOfTheReferenceIsThere(t *testing.T) {
	want := "api_key body_limit compress ip_allow ip_deny rate_limit remove_request_header remove_response_header request_id scope " +
		"set_request_header set_response_header strip_identity"
	if got := strings.Join(newRegistry(t).Names(), " "); got != want {
		t.Errorf("the filters are %s, want %s", got, want)
	}
}

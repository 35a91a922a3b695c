package proxy

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzGuard checks that no spelling of a protected name is left, and that no
// other header is taken away.
func FuzzGuard(f *testing.F) {
	for _, name := range []string{"X-User-Id", "x_user_id", "X.User.Id", "X-User-Identity", "X-Request-Id", "Traceparent", "X-Forwarded-For", "X_Forwarded_Anything",
		"Forwarded", "X-Real-IP", "X-ORIGINAL-URL", "Accept", "", "X-User-Id ", "X--User-Id", "\xffX-User-Id", "X-ſ-Id"} {
		f.Add(name, true)
		f.Add(name, false)
	}
	guard := NewGuard([]string{"x-user-id", "X-Tenant"})
	f.Fuzz(func(t *testing.T, name string, trusted bool) {
		h := http.Header{}
		h.Add(name, "value")
		claimed := guard.Spoofed(h)
		spoofed := guard.Strip(h, trusted)
		plain := strings.ToLower(normal(name))
		identity := plain == "x-user-id" || plain == "x-tenant"
		own := plain == "x-request-id" || plain == "traceparent"
		forwarding := strings.HasPrefix(plain, "x-forwarded-") || plain == "forwarded" || plain == "x-real-ip" || plain == "x-original-url" || plain == "x-rewrite-url"
		kept := !identity && !own && (!forwarding || trusted && strings.EqualFold(plain, name))
		if kept != (len(h) == 1) {
			t.Errorf("%q: kept %v, want %v", name, len(h) == 1, kept)
		}
		if spoofed != identity || claimed != identity {
			t.Errorf("%q: spoofed %v and %v, want %v", name, spoofed, claimed, identity)
		}
	})
}

// normal is name with a dash for each character that is no letter or digit.
func normal(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			b.WriteRune(c)
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

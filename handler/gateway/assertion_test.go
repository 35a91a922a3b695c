package gateway_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

const assertionConfig = `
auth:
  assertion: {per_request: EACH}
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {name: closed, path: /, upstream: app, scopes: []}
  - {path: /open, upstream: app, auth: none}
`

// asserted is what the backend can believe: the one assertion that came, verified with the published keys.
func asserted(t *testing.T, s *stand, head string) *identity.Principal {
	t.Helper()
	lines := headerLines(head, "X-Gateway-Assertion")
	if len(lines) != 1 {
		t.Fatalf("%d assertions in %s", len(lines), head)
	}
	text, err := json.Marshal(s.gw.AssertionKeys())
	if err != nil {
		t.Fatal(err)
	}
	keys, _, err := keyset.ParseJWKS(text)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := token.NewVerifier([]token.Provider{{Name: "g", Issuer: "gatehouse", Audiences: []string{"app"}, Algorithms: []string{"EdDSA"}, Source: keyset.NewSet(keys...)}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := verifier.Verify(context.Background(), lines[0], "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheUpstreamGetsAnAssertion(t *testing.T) {
	for each, same := range map[string]bool{"false": true, "true": false} {
		t.Run("per_request: "+each, func(t *testing.T) {
			backend := newRawBackend(t, says(okAnswer))
			s := start(t, backend.Addr().String(), strings.Replace(assertionConfig, "EACH", each, 1))
			raw := bearer(t, map[string]any{"sub": "ada", "scope": "a b"})
			first := s.get("/x", raw, "X-Gateway-Assertion: forged", "X_Gateway_Assertion: forged", "Connection: X-Gateway-Assertion")
			p := asserted(t, s, backend.last(t))
			if p.Subject != "ada" || len(p.Scopes) != 2 || p.Claims["route"] != "closed" {
				t.Errorf("asserted %+v", p.Claims)
			}
			if id, there := p.Claims["request_id"]; there == same || there && id != first.Header.Get("X-Request-Id") {
				t.Errorf("request id %v", id)
			}
			s.get("/y", raw)
			if again := asserted(t, s, backend.last(t)); (again.TokenID == p.TokenID) != same {
				t.Errorf("two requests got %s and %s", p.TokenID, again.TokenID)
			}
			s.get("/open", raw, "X-Gateway-Assertion: forged", "x.gateway~assertion: forged")
			if head := backend.last(t); strings.Contains(strings.ToLower(head), "assertion") {
				t.Errorf("an open route: %s", head)
			}
		})
	}
}

func TestTheAssertionsKeyIsRotatedWithItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.pem")
	save := func() {
		private, err := keyset.Generate("EdDSA")
		if err != nil {
			t.Fatal(err)
		}
		text, err := keyset.MarshalPrivatePEM(private)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, string(text))
	}
	save()
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), strings.Replace(assertionConfig, "per_request: EACH", "per_request: true, key_file: "+file, 1))
	raw := bearer(t, nil)
	s.get("/", raw)
	old := backend.last(t)
	save()
	for range 500 {
		if len(s.gw.AssertionKeys().Keys) == 2 {
			break
		}
		ticks(10)
	}
	s.get("/", raw)
	asserted(t, s, old)
	asserted(t, s, backend.last(t))
	if headKid(t, old) == headKid(t, backend.last(t)) || len(s.gw.AssertionKeys().Keys) != 2 {
		t.Errorf("the key wasn't rotated: %+v", s.gw.AssertionKeys())
	}
}

// headKid is the assertion's header as it stands in a head.
func headKid(t *testing.T, head string) string {
	header, _, _ := strings.Cut(headerLines(head, "X-Gateway-Assertion")[0], ".")
	return header
}

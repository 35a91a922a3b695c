package token_test

import (
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

func TestEachKindOfBadTokenIsRefusedAsItShould(t *testing.T) {
	want := map[string]token.Reason{
		"crit": token.Invalid, "exp-text": token.Invalid, "from-future": token.Invalid, "malformed": token.Invalid, "unknown-kid": token.Invalid,
		"alg-none": token.Invalid, "expired": token.Expired, "hs-confusion": token.Invalid, "no-exp": token.Invalid, "no-scope": 0,
		"not-yet": token.Invalid, "tampered": token.Invalid, "wrong-aud": token.Invalid, "wrong-iss": token.Invalid, "wrong-key": token.Invalid,
	}
	keys := signingKeys(t)
	for _, algorithm := range []string{"RS256", "ES384", "EdDSA", "HS256"} {
		key := keys[algorithm]
		verifier := newVerifier(t, token.Provider{
			Name: "identity", Issuer: issuer, Audiences: []string{"gateway"}, Leeway: 30 * time.Second,
			Algorithms: keyset.Algorithms(), Source: keyset.NewSet(verification(t, "", key)),
		})
		claims := map[string]any{
			"iss": issuer, "aud": "gateway", "sub": "ada", "scope": "order",
			"iat": time.Now().Unix(), "nbf": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		}
		good, err := token.Sign(claims, key, algorithm, "k1")
		if err != nil {
			t.Fatal(err)
		}
		if principal := expect(t, verifier, good, "", 0); !principal.Scopes.Has("order") {
			t.Errorf("scopes = %v", principal.Scopes)
		}
		for _, kind := range token.BadKinds() {
			t.Run(algorithm+" "+kind, func(t *testing.T) {
				raw, err := token.Bad(kind, claims, key, algorithm, "k1")
				if kind == "hs-confusion" && algorithm == "HS256" {
					if err == nil {
						t.Error("a secret has no public key to confuse it with")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				reason, known := want[kind]
				if !known {
					t.Fatal("the test doesn't know this kind")
				}
				principal := expect(t, verifier, raw, "", reason)
				if kind == "no-scope" && principal.Scopes.Has("order") {
					t.Error("it has the scope")
				}
			})
		}
		if len(claims) != 7 || claims["aud"] != "gateway" {
			t.Errorf("the claims that were given are changed: %v", claims)
		}
	}
}

func TestNothingIsSignedThatNoVerifierAccepts(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	elliptic, err := keyset.Generate("ES256")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		key       any
		algorithm string
		want      string
	}{
		"a weak RSA key":            {weak, "RS256", "weak key"},
		"a short secret":            {[]byte("short"), "HS256", "weak secret"},
		"a key of another kind":     {elliptic, "RS256", "doesn't fit"},
		"a key on another curve":    {elliptic, "ES384", "doesn't fit"},
		"a key pair as a secret":    {elliptic, "HS256", "doesn't fit"},
		"a secret as a key pair":    {secretKey(), "RS256", "doesn't fit"},
		"no algorithm":              {elliptic, "", "no algorithm"},
		"none":                      {elliptic, "none", "doesn't fit"},
		"a secret that is a string": {string(secretKey()), "HS256", "can't sign"},
		"no key":                    {nil, "HS256", "can't sign"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := token.Sign(map[string]any{}, row.key, row.algorithm, ""); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Sign: %v, want %q", err, row.want)
			}
			if _, err := token.Bad("expired", map[string]any{}, row.key, row.algorithm, ""); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Bad: %v, want %q", err, row.want)
			}
		})
	}
	if _, err := token.Bad("rotten", map[string]any{}, secretKey(), "HS256", ""); err == nil || !strings.Contains(err.Error(), "wrong-key") {
		t.Errorf("an unknown kind: %v, want the kinds that there are", err)
	}
	if _, err := token.Sign(map[string]any{"f": func() {}}, secretKey(), "HS256", ""); err == nil {
		t.Error("a function is signed")
	}
}

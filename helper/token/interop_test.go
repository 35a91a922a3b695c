package token_test

import (
	"crypto"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// Another library makes the key set and the token, and reads what this one signs.
func TestAnotherLibraryUnderstandsTheSame(t *testing.T) {
	for algorithm, private := range signingKeys(t) {
		t.Run(algorithm, func(t *testing.T) {
			if _, ok := private.([]byte); ok {
				private = []byte(strings.Repeat("secret! ", 8)) // the other library wants 64 bytes for HS512
			}
			public := private // a secret is both
			if signer, ok := private.(crypto.Signer); ok {
				public = signer.Public()
			}
			verifier := newVerifier(t, token.Provider{
				Name: "identity", Issuer: issuer, Audiences: []string{"gateway"}, Algorithms: []string{algorithm}, Source: published(t, public, algorithm),
			})
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: jose.JSONWebKey{Key: private, KeyID: "k1"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			raw, err := jwt.Signed(signer).Claims(jwt.Claims{
				Issuer: issuer, Audience: jwt.Audience{"other", "gateway"}, Subject: "ada", ID: "1",
				IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(time.Hour)),
			}).Claims(map[string]any{"scope": "order"}).Serialize()
			if err != nil {
				t.Fatal(err)
			}
			if p := expect(t, verifier, raw, "", 0); p == nil || p.Subject != "ada" || p.TokenID != "1" || p.KeyID != "k1" || !p.Scopes.Has("order") {
				t.Errorf("principal %+v", p)
			}
			ours, err := token.Sign(map[string]any{"iss": issuer, "sub": "ada", "exp": now.Add(time.Hour).Unix()}, private, algorithm, "k1")
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := jwt.ParseSigned(ours, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(algorithm)})
			if err != nil {
				t.Fatal(err)
			}
			var claims jwt.Claims
			if err := parsed.Claims(public, &claims); err != nil || claims.Subject != "ada" {
				t.Errorf("the other library doesn't accept ours: %+v, %v", claims, err)
			}
		})
	}
}

// published is the key set that the other library makes of a public key; a secret isn't published.
func published(t *testing.T, public any, algorithm string) *keyset.Set {
	t.Helper()
	if secret, ok := public.([]byte); ok {
		return keyset.NewSet(verification(t, "k1", secret))
	}
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "k1", Algorithm: algorithm, Use: "sig"}}})
	if err != nil {
		t.Fatal(err)
	}
	keys, skipped, err := keyset.ParseJWKS(text)
	if err != nil || len(skipped) > 0 || len(keys) != 1 {
		t.Fatalf("%s: %v, %v, %v", text, keys, skipped, err)
	}
	return keyset.NewSet(keys...)
}

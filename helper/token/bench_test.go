package token_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// benchmarkToken is a token of about 1 KB and a verifier for it.
func benchmarkToken(b *testing.B, algorithm string) (string, *token.Verifier) {
	b.Helper()
	claims := map[string]any{
		"iss": issuer, "aud": "gateway", "sub": "ada", "scope": "order user", "email": "ada@example.com", "exp": 4102444800, "iat": 1,
		"realm_access": map[string]any{"roles": []string{"order", "user"}}, "padding": strings.Repeat("x", 400),
	}
	var key any = secretKey()
	if !strings.HasPrefix(algorithm, "HS") {
		var err error
		if key, err = keyset.Generate(algorithm); err != nil {
			b.Fatal(err)
		}
	}
	verifier := newVerifier(b, token.Provider{
		Name: "identity", Issuer: issuer, Audiences: []string{"gateway"}, Algorithms: []string{algorithm},
		Headers: map[string]string{"X-User-Id": "sub", "X-User-Email": "email", "X-User-Scopes": "scope"},
		Source:  keyset.NewSet(verification(b, "", key)),
	})
	raw, err := token.Sign(claims, key, algorithm, "k1")
	if err != nil {
		b.Fatal(err)
	}
	return raw, verifier
}

// BenchmarkVerify measures a token of about 1 KB with each algorithm.
func BenchmarkVerify(b *testing.B) {
	for _, algorithm := range keyset.Algorithms() {
		raw, verifier := benchmarkToken(b, algorithm)
		b.Run(algorithm, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := verifier.Verify(context.Background(), raw, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

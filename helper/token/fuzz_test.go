package token_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// FuzzVerify holds two things: nothing panics, and nothing is accepted but the very tokens that were signed here.
func FuzzVerify(f *testing.F) {
	// A fixed key: the corpus that a fuzzer keeps has to mean the same the next time.
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("s", ed25519.SeedSize)))
	provider := secretProvider(f)
	provider.Algorithms = keyset.Algorithms()
	provider.Source = keyset.NewSet(verification(f, "", secretKey()), verification(f, "ed", private))
	verifier := newVerifier(f, provider)

	signed := make(map[string]bool)
	for _, claims := range []string{
		goodClaims,
		`{"iss":"` + issuer + `","exp":4102444800.5,"iat":1,"nbf":1,"aud":["a","b"],"scope":["x"],"realm_access":{"roles":["y"]}}`,
	} {
		for algorithm, key := range map[string]any{"HS256": secretKey(), "HS512": secretKey(), "EdDSA": private} {
			raw := compact(f, fmt.Sprintf(`{"alg":%q,"kid":"ed"}`, algorithm), claims, key, algorithm)
			signed[raw] = true
			f.Add(raw)
		}
	}
	for _, header := range []string{`{"alg":"none"}`, `{"alg":"RS256"}`, `{"alg":"ES256","kid":1}`, `{"alg":"EdDSA","crit":[]}`} {
		f.Add(compact(f, header, goodClaims, secretKey(), "HS256"))
	}
	f.Add(signedHS256(f, `{"iss":"`+issuer+`","exp":1e400}`))
	f.Add("..")
	f.Fuzz(func(t *testing.T, raw string) {
		principal, err := verifier.Verify(context.Background(), raw, "")
		var refusal *token.Error
		switch {
		case err == nil && !signed[raw]:
			t.Errorf("%q is accepted as %+v", raw, principal)
		case err != nil && signed[raw]:
			t.Errorf("%q is refused: %v", raw, err)
		case err != nil && (!errors.As(err, &refusal) || refusal.Reason == 0 || principal != nil):
			t.Errorf("%q: principal %v, error %#v", raw, principal, err)
		}
	})
}

// FuzzClaims signs whatever claims it is given: what is accepted then must be within its time.
func FuzzClaims(f *testing.F) {
	verifier := newVerifier(f, secretProvider(f))
	for _, exp := range []string{"4102444800", "1.9e9", "1e400", "-1", "9223372036854775808", "253402300800999", "1e-400", "-0", "null", `"1"`} {
		f.Add(exp, "1", "1")
	}
	f.Fuzz(func(t *testing.T, exp, nbf, iat string) {
		raw := signedHS256(t, fmt.Sprintf(`{"iss":%q,"exp":%s,"nbf":%s,"iat":%s}`, issuer, exp, nbf, iat))
		principal, err := verifier.Verify(context.Background(), raw, "")
		if err == nil && (principal.Expires.Before(time.Now()) || principal.Expires.Year() > 9999) {
			t.Errorf("exp %s is accepted, and is %v", exp, principal.Expires)
		}
	})
}

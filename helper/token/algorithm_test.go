package token_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// goodClaims are accepted by a provider that asks for the issuer only. A synctest bubble begins in the year 2000.
const goodClaims = `{"iss":"` + issuer + `","sub":"ada","exp":4102444800}`

func TestATokenOfEveryAlgorithmIsAccepted(t *testing.T) {
	for algorithm, key := range signingKeys(t) {
		t.Run(algorithm, func(t *testing.T) {
			provider := token.Provider{
				Name: "identity", Issuer: issuer, Algorithms: []string{algorithm},
				Source: keyset.NewSet(verification(t, "", key)),
			}
			verifier := newVerifier(t, provider)
			raw := compact(t, fmt.Sprintf(`{"alg":%q}`, algorithm), goodClaims, key, algorithm)
			expect(t, verifier, raw, "", 0)
			expect(t, verifier, flipSignature(raw), "", token.Invalid)
			expect(t, verifier, raw[:strings.LastIndexByte(raw, '.')+1], "", token.Invalid)

			signed, err := token.Sign(map[string]any{"iss": issuer, "exp": 4102444800}, key, algorithm, "k1")
			if err != nil {
				t.Fatal(err)
			}
			expect(t, verifier, signed, "", 0)
		})
	}
}

// flipSignature changes one bit in the middle of a signature.
func flipSignature(raw string) string {
	i := (strings.LastIndexByte(raw, '.') + len(raw)) / 2
	other := byte('A')
	if raw[i] == 'A' {
		other = 'B'
	}
	return raw[:i] + string(other) + raw[i+1:]
}

// A token is signed properly with one key and says another algorithm; the provider accepts all algorithms and has all
// keys without ID, so nothing but the kinds of the keys stands in the way.
func TestNoAlgorithmCanBeTakenForAnother(t *testing.T) {
	keys := signingKeys(t)
	set := []keyset.Key{verification(t, "", secretKey()), verification(t, "", keys["RS256"])}
	for _, algorithm := range []string{"ES256", "ES384", "ES512", "EdDSA"} {
		set = append(set, verification(t, "", keys[algorithm]))
	}
	verifier := newVerifier(t, token.Provider{
		Name: "identity", Issuer: issuer, Algorithms: keyset.Algorithms(), Source: keyset.NewSet(set...),
	})
	for signedWith, key := range keys {
		for _, said := range keyset.Algorithms() {
			want := token.Invalid
			if said == signedWith {
				want = 0
			}
			t.Run(signedWith+" said to be "+said, func(t *testing.T) {
				raw := compact(t, fmt.Sprintf(`{"alg":%q}`, said), goodClaims, key, signedWith)
				expect(t, verifier, raw, "", want)
			})
		}
	}
}

// careless is a source that offers its key for everything.
type careless struct{ key keyset.Key }

func (c careless) Keys(context.Context, string, string) ([]keyset.Key, error) {
	return []keyset.Key{c.key}, nil
}

func TestAKeyBoundToOneAlgorithmServesNoOtherWhateverTheSourceSays(t *testing.T) {
	private, err := keyset.Generate("RS256")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := keyset.NewPublic("", "PS256", private.Public())
	if err != nil {
		t.Fatal(err)
	}
	verifier := newVerifier(t, token.Provider{
		Name: "identity", Issuer: issuer, Algorithms: []string{"RS256", "PS256"}, Source: careless{bound},
	})
	expect(t, verifier, compact(t, `{"alg":"PS256"}`, goodClaims, private, "PS256"), "", 0)
	expect(t, verifier, compact(t, `{"alg":"RS256"}`, goodClaims, private, "RS256"), "", token.Invalid)
}

func TestAPublicKeyIsNoSecret(t *testing.T) {
	for algorithm, key := range signingKeys(t) {
		public, ok := verification(t, "", key).Public()
		if !ok {
			continue
		}
		text, err := keyset.MarshalPublicPEM(public)
		if err != nil {
			t.Fatal(err)
		}
		verifier := newVerifier(t, token.Provider{
			Name: "identity", Issuer: issuer, Algorithms: keyset.Algorithms(), Source: keyset.NewSet(verification(t, "", key)),
		})
		for _, hs := range []string{"HS256", "HS384", "HS512"} {
			for _, secret := range [][]byte{text, text[:len(text)-1]} {
				t.Run(algorithm+" as "+hs, func(t *testing.T) {
					raw := compact(t, fmt.Sprintf(`{"alg":%q}`, hs), goodClaims, secret, hs)
					expect(t, verifier, raw, "", token.Invalid)
				})
			}
		}
	}
}

func TestAnUnsignedTokenIsRefusedInEverySpelling(t *testing.T) {
	verifier := newVerifier(t, secretProvider(t))
	for _, header := range []string{
		`{"alg":"none"}`, `{"alg":"None"}`, `{"alg":"nOnE"}`, `{"alg":"NONE"}`, `{"alg":""}`, `{"alg":"none "}`, `{"alg":"hs256"}`,
		`{"alg":null}`, `{"alg":["HS256"]}`, `{"ALG":"HS256"}`, `{}`, `{"alg":"HS256"}`,
	} {
		for _, signature := range []string{"", "AAAA"} {
			raw := base64url([]byte(header)) + "." + base64url([]byte(goodClaims)) + "." + signature
			want := token.Invalid
			if strings.Contains(header, "null") || strings.Contains(header, "[") || !strings.Contains(header, "alg") {
				want = token.Malformed
			}
			t.Run(header+signature, func(t *testing.T) { expect(t, verifier, raw, "", want) })
		}
	}
}

// jwsClaims are the claims of RFC 7515, appendix A.1 to A.3.
const jwsClaims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

func TestTheTokensOfTheStandardAreAccepted(t *testing.T) {
	secret := verification(t, "", decode(t, "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
	published, skipped, err := keyset.ParseJWKS([]byte(`{"keys":[
		{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"},
		{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}`))
	if err != nil || len(skipped) > 0 {
		t.Fatal(skipped, err)
	}
	verifier := newVerifier(t, token.Provider{
		Name: "rfc7515", Issuer: "joe", Algorithms: []string{"HS256", "RS256", "ES256"}, Source: keyset.NewSet(append(published, secret)...),
	})
	for name, raw := range map[string]string{
		"A.1, HS256": "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + jwsClaims + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
		"A.2, RS256": "eyJhbGciOiJSUzI1NiJ9." + jwsClaims + ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
		"A.3, ES256": "eyJhbGciOiJFUzI1NiJ9." + jwsClaims + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // its clock begins before the tokens' exp in 2011
				principal := expect(t, verifier, raw, "", 0)
				if principal != nil && principal.Claims["http://example.com/is_root"] != true {
					t.Errorf("claims = %v", principal.Claims)
				}
			})
			expect(t, verifier, raw, "", token.Expired)
		})
	}
}

package keyset_test

import (
	"crypto"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
)

func TestAPublishedKeyComesBack(t *testing.T) {
	for _, algorithm := range []string{"RS256", "ES256", "ES384", "ES512", "EdDSA"} {
		for range 20 { // coordinates that begin with a zero byte turn up now and then
			key := public(t, algorithm)
			jwk, err := keyset.NewJWK(key, algorithm)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(keyset.JWKS{Keys: []keyset.JWK{jwk}})
			if err != nil {
				t.Fatal(err)
			}
			keys, skipped, err := keyset.ParseJWKS(text)
			if err != nil || len(skipped) > 0 || len(keys) != 1 {
				t.Fatalf("%s: %v, %v, %v", text, keys, skipped, err)
			}
			back, ok := keys[0].Public()
			if !ok || !key.(interface{ Equal(crypto.PublicKey) bool }).Equal(back) {
				t.Errorf("%s: another key came back", algorithm)
			}
			if thumbprint, _ := keyset.Thumbprint(key); keys[0].ID != thumbprint || !keys[0].Fits(algorithm) {
				t.Errorf("%s: key = %v, thumbprint = %s", algorithm, keys[0], thumbprint)
			}
			if algorithm == "RS256" {
				break // generating is slow, and there is no padding to get wrong
			}
		}
	}
}

// The keys and thumbprints of RFC 7638, section 3.1, and RFC 8037, appendix A.3.
const (
	rfc7638Key = `{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256"}`
	rfc8037Key = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
)

func TestThumbprintsAreThoseOfTheStandards(t *testing.T) {
	for text, want := range map[string]string{
		rfc7638Key: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
		rfc8037Key: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
	} {
		keys, skipped, err := keyset.ParseJWKS([]byte(`{"keys":[` + text + `]}`))
		if err != nil || len(keys) != 1 {
			t.Fatal(keys, skipped, err)
		}
		if keys[0].ID != want {
			t.Errorf("thumbprint = %s, want %s", keys[0].ID, want)
		}
	}
}

func TestAKeyThatCantBeUsedIsPassedOver(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"for encryption":               {`{"kty":"OKP","use":"enc"}`, `use is "enc"`},
		"of operations without verify": {`{"kty":"OKP","key_ops":["encrypt"]}`, "key_ops"},
		"symmetric":                    {`{"kty":"oct","k":"AAAA"}`, `kind "oct"`},
		"on an unknown curve":          {`{"kty":"EC","crv":"secp256k1"}`, "curve"},
		"X25519":                       {`{"kty":"OKP","crv":"X25519","x":"AAAA"}`, "curve"},
		"weak":                         {`{"kty":"RSA","n":"AQAB","e":"AQAB"}`, "weak key"},
		"without n":                    {`{"kty":"RSA","e":"AQAB"}`, "weak key"},
		"with a huge exponent":         {`{"kty":"RSA","n":"AQAB","e":"AQABAQABAQAB"}`, "exponent"},
		"with a short coordinate":      {`{"kty":"EC","crv":"P-256","x":"AQAB","y":"AQAB"}`, "32 bytes"},
		"off the curve":                {`{"kty":"EC","crv":"P-256","x":"` + strings.Repeat("A", 43) + `","y":"` + strings.Repeat("A", 43) + `"}`, "curve"},
		"not base64url":                {`{"kty":"OKP","crv":"Ed25519","x":"=="}`, "decoding x"},
		"cut":                          {`{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`, "3 bytes"},
		"bound to another kind":        {strings.Replace(rfc8037Key, "{", `{"alg":"HS256",`, 1), "doesn't fit"},
		"with a kid of another type":   {`{"kty":"OKP","kid":7}`, "decoding"},
		"no object":                    {`"key"`, "decoding"},
	} {
		t.Run(name, func(t *testing.T) {
			keys, skipped, err := keyset.ParseJWKS([]byte(`{"keys":[` + row.text + `,` + rfc8037Key + `]}`))
			if err != nil || len(keys) != 1 || len(skipped) != 1 {
				t.Fatalf("%v, %v, %v", keys, skipped, err)
			}
			if text := skipped[0].Error(); !strings.Contains(text, "key 1 of the set") || !strings.Contains(text, row.want) {
				t.Errorf("skipped because %q, want %q", text, row.want)
			}
		})
	}
}

func TestATextThatIsNoKeySetIsAnError(t *testing.T) {
	for _, text := range []string{"", "<html>", "[]", "{}", `{"keys":null}`, `{"keys":{}}`, `{"keys":[]} x`} {
		if _, _, err := keyset.ParseJWKS([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if keys, skipped, err := keyset.ParseJWKS([]byte(`{"keys":[]}`)); err != nil || len(keys)+len(skipped) > 0 {
		t.Errorf("an empty set: %v, %v, %v", keys, skipped, err)
	}
}

func FuzzParseJWKS(f *testing.F) {
	f.Add([]byte(`{"keys":[` + rfc7638Key + `,` + rfc8037Key + `,{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, _, _ := keyset.ParseJWKS(data)
		for _, key := range keys {
			if _, ok := key.Public(); !ok || key.ID == "" || key.Fits("HS256") {
				t.Errorf("%s gives %v", data, key)
			}
		}
	})
}

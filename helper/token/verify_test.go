package token_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

func TestATokenThatIsNoneIsMalformed(t *testing.T) {
	verifier := newVerifier(t, secretProvider(t))
	good := signedHS256(t, goodClaims)
	expect(t, verifier, good, "", 0)
	parts := strings.Split(good, ".")
	header := func(text string) string { return compact(t, text, goodClaims, secretKey(), "HS256") }
	for name, raw := range map[string]string{
		"nothing":                         "",
		"a word":                          "token",
		"two parts":                       parts[0] + "." + parts[1],
		"four parts":                      good + ".AAAA",
		"five parts":                      good + ".AAAA.AAAA",
		"only dots":                       "..",
		"a space at the end":              good + " ",
		"a line break inside":             parts[0] + ".\n" + parts[1] + "." + parts[2],
		"a carriage return at the end":    good + "\r",
		"padding":                         good + "=",
		"a signature in plain base64":     parts[0] + "." + parts[1] + ".ab+/",
		"bits left over in the signature": good[:len(good)-1] + nextLetter(good[len(good)-1]),
		"over 16 KiB":                     signedHS256(t, `{"iss":"`+issuer+`","exp":4102444800,"x":"`+strings.Repeat("x", 13000)+`"}`),
		"a header that isn't JSON":        header("alg: HS256"),
		"a header that is an array":       header(`["HS256"]`),
		"a header that is null":           header("null"),
		"a header and more":               header(`{"alg":"HS256"}{}`),
		"a header with alg twice":         header(`{"alg":"none","alg":"HS256"}`),
		"a kid that is a number":          header(`{"alg":"HS256","kid":1}`),
		"a kid that is null":              header(`{"alg":"HS256","kid":null}`),
		"claims that aren't JSON":         signedHS256(t, "hello"),
		"claims that are an array":        signedHS256(t, "[]"),
		"claims that are null":            signedHS256(t, "null"),
		"claims with sub twice":           signedHS256(t, strings.Replace(goodClaims, "{", `{"sub":"admin",`, 1)),
		"claims with a nested name twice": signedHS256(t, strings.Replace(goodClaims, "{", `{"a":[{"b":1,"b":2}],`, 1)),
		"claims that aren't UTF-8":        signedHS256(t, strings.Replace(goodClaims, "ada", "\xff", 1)),
		"claims nested without end":       signedHS256(t, strings.Repeat(`[`, 11000)),
	} {
		t.Run(name, func(t *testing.T) { expect(t, verifier, raw, "", token.Malformed) })
	}
}

// nextLetter changes the lowest bit of a base64url letter; the last letter of a 32-byte signature has two unused bits.
func nextLetter(c byte) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(letters[strings.IndexByte(letters, c)^1])
}

func TestHeadersThatBringKeysAreIgnored(t *testing.T) {
	verifier := newVerifier(t, secretProvider(t))
	for name, row := range map[string]struct {
		header string
		want   token.Reason
	}{
		"jku, x5u, x5c and jwk":  {`{"alg":"HS256","jku":"http://127.0.0.1:1/k","x5u":"http://127.0.0.1:1/c","x5c":["x"],"jwk":{"kty":"oct","k":"AA"}}`, 0},
		"a path as kid":          {`{"alg":"HS256","kid":"../../dev/null"}`, 0},
		"another typ":            {`{"alg":"HS256","typ":"at+jwt"}`, 0},
		"crit":                   {`{"alg":"HS256","crit":["exp"]}`, token.Invalid},
		"an empty crit":          {`{"alg":"HS256","crit":[]}`, token.Invalid},
		"an unencoded payload":   {`{"alg":"HS256","b64":false,"crit":["b64"]}`, token.Invalid},
		"another accepted alg":   {`{"alg":"HS512"}`, token.Invalid},
		"an algorithm of 10 KiB": {`{"alg":"` + strings.Repeat("x", 10000) + `"}`, token.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, verifier, compact(t, row.header, goodClaims, secretKey(), "HS256"), "", row.want)
		})
	}
	// The same headers with a signature by the key that they bring.
	forged := compact(t, `{"alg":"HS256","jwk":{"kty":"oct","k":"AAAA"}}`, goodClaims, make([]byte, 32), "HS256")
	expect(t, verifier, forged, "", token.Invalid)
}

func TestTheAudienceMustNameTheGateway(t *testing.T) {
	provider := secretProvider(t)
	provider.Audiences = []string{"gateway", "gateway-2"}
	strict, open := newVerifier(t, provider), newVerifier(t, secretProvider(t))
	for aud, want := range map[string]token.Reason{
		`"gateway"`: 0, `["other","gateway-2"]`: 0, `["other",7,"gateway"]`: 0,
		`"other"`: token.Invalid, `"Gateway"`: token.Invalid, `"gateway "`: token.Invalid, `"gateway gateway-2"`: token.Invalid, `["other"]`: token.Invalid, `[]`: token.Invalid,
		`null`: token.Invalid, `7`: token.Invalid, `{"gateway":true}`: token.Invalid, `[["gateway"]]`: token.Invalid, `""`: token.Invalid,
	} {
		raw := signedHS256(t, strings.Replace(goodClaims, "{", `{"aud":`+aud+`,`, 1))
		t.Run("aud "+aud, func(t *testing.T) {
			expect(t, strict, raw, "", want)
			expect(t, open, raw, "", 0)
		})
	}
	expect(t, strict, signedHS256(t, goodClaims), "", token.Invalid)
}

func TestTheSubjectIsAString(t *testing.T) {
	verifier := newVerifier(t, secretProvider(t))
	for sub, want := range map[string]token.Reason{`"ada"`: 0, `""`: 0, `null`: 0, `7`: token.Invalid, `["ada"]`: token.Invalid, `true`: token.Invalid, `{}`: token.Invalid} {
		expect(t, verifier, signedHS256(t, `{"iss":"`+issuer+`","exp":4102444800,"sub":`+sub+`}`), "", want)
	}
}

func TestTheTokenIDIsAString(t *testing.T) {
	verifier := newVerifier(t, secretProvider(t))
	for jti, want := range map[string]token.Reason{
		`"5"`: 0, `""`: 0, `5`: token.Invalid, `true`: token.Invalid, `["5"]`: token.Invalid, `{}`: token.Invalid, `null`: token.Invalid,
	} {
		t.Run("jti "+jti, func(t *testing.T) {
			principal := expect(t, verifier, signedHS256(t, `{"iss":"`+issuer+`","exp":4102444800,"jti":`+jti+`}`), "", want)
			if jti == `"5"` && (principal == nil || principal.TokenID != "5") {
				t.Errorf("principal = %+v, want the token's id 5", principal)
			}
		})
	}
}

func TestTheIssuerIsAStringAlsoWhereAnyWillDo(t *testing.T) {
	provider := secretProvider(t)
	provider.Issuer, provider.AllowAnyIssuer = "", true
	verifier := newVerifier(t, provider)
	for claims, want := range map[string]token.Reason{
		`"iss":"anybody",`: 0, ``: 0, `"iss":7,`: token.Invalid, `"iss":["a"],`: token.Invalid, `"iss":null,`: token.Invalid,
	} {
		t.Run(claims, func(t *testing.T) {
			raw := signedHS256(t, "{"+claims+`"exp":4102444800}`)
			expect(t, verifier, raw, "", want)
			expect(t, verifier, raw, provider.Name, want)
		})
	}
}

func TestAPrincipalIsWhatTheTokenSays(t *testing.T) {
	provider := secretProvider(t)
	provider.ScopeClaim = "realm_access.roles"
	provider.ForwardToken = true
	provider.Headers = map[string]string{"X-User-Scopes": "realm_access.roles", "X-User-Id": "sub", "X-User-Email": "email", "X-Account": "account"}
	verifier := newVerifier(t, provider)
	principal := expect(t, verifier, signedHS256(t, `{"iss":"`+issuer+`","sub":"ada\r\n","exp":4102444800,
		"scope":"ignored","account":12345678901234567,"realm_access":{"roles":["order","user"]}}`), "", 0)
	if principal == nil {
		t.FailNow()
	}
	principal.Claims = nil // compared by package identity's tests
	want := &identity.Principal{
		Provider: "identity", Issuer: issuer, Subject: "ada\r\n", Scopes: identity.Scopes{"order", "user"}, Expires: time.Unix(4102444800, 0),
		ForwardToken: true,
		Headers:      []identity.Header{{Name: "X-Account", Value: "12345678901234567"}, {Name: "X-User-Id", Value: "ada%0D%0A"}, {Name: "X-User-Scopes", Value: "order,user"}},
	}
	if !reflect.DeepEqual(principal, want) {
		t.Errorf("principal = %+v, want %+v", principal, want)
	}
}

func TestARefusalNeverQuotesTheToken(t *testing.T) {
	keyless := secretProvider(t)
	keyless.Name, keyless.Issuer, keyless.Source = "keyless", "https://keyless", keyset.NewSet()
	verifier := newVerifier(t, secretProvider(t), keyless)
	kid := "kid-" + strings.Repeat("k", 200)
	for _, raw := range []string{
		"marker.marker.marker",
		compact(t, `{"alg":"HS256","kid":"`+kid+`"}`, strings.Replace(goodClaims, "ada", "marker", 1), []byte("another secret of more than 32 bytes"), "HS256"),
		compact(t, `{"alg":"HS256","kid":"`+kid+`"}`, `{"iss":"https://keyless","sub":"marker"}`, secretKey(), "HS256"),
		compact(t, `{"alg":"HS256","marker":marker}`, goodClaims, secretKey(), "HS256"),
		signedHS256(t, `{"iss":"marker"}`),
		signedHS256(t, `{"iss":"`+issuer+`","exp":"marker"}`),
	} {
		_, err := verifier.Verify(context.Background(), raw, "")
		if err == nil {
			t.Fatal("accepted")
		}
		if text := err.Error(); strings.Contains(text, "marker") || strings.Contains(text, kid[:65]) || strings.Contains(text, raw) {
			t.Errorf("error %q quotes the token", text)
		}
	}
}

// failing is a source that never has keys.
type failing struct{ err error }

func (f failing) Keys(context.Context, string, string) ([]keyset.Key, error) { return nil, f.err }

func TestATokenCantBeJudgedWithoutKeys(t *testing.T) {
	provider := secretProvider(t)
	down := errors.New("connection refused")
	provider.Source = failing{&keyset.UnavailableError{Err: down}}
	verifier := newVerifier(t, provider)
	_, err := verifier.Verify(context.Background(), signedHS256(t, goodClaims), "")
	var refusal *token.Error
	if !errors.As(err, &refusal) || refusal.Reason != token.KeysUnavailable || refusal.Provider != "identity" || !errors.Is(err, down) {
		t.Errorf("error = %#v", err)
	}
	provider.Source = failing{context.Canceled}
	_, err = newVerifier(t, provider).Verify(context.Background(), signedHS256(t, goodClaims), "")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the context's", err)
	}
	provider.Source = failing{nil}
	expect(t, newVerifier(t, provider), signedHS256(t, goodClaims), "", token.Invalid)
}

package token

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
)

// The example of RFC 8037, appendix A.4, is no token: its payload is plain text. So its signature is checked by itself.
func TestTheEdDSASignatureOfTheStandardIsAccepted(t *testing.T) {
	keys, _, err := keyset.ParseJWKS([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`))
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	signature, err := base64.RawURLEncoding.DecodeString("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
	if err != nil {
		t.Fatal(err)
	}
	token := &unverified{signed: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc", signature: signature}
	if !verifiesWith(keys[0], signingMethod("EdDSA"), token) {
		t.Error("refused")
	}
	signature[0] ^= 1
	if verifiesWith(keys[0], signingMethod("EdDSA"), token) {
		t.Error("accepted with a bit changed")
	}
}

// FuzzDuplicateNames compares decodePart's counting with a decoder that looks at every name.
func FuzzDuplicateNames(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1,"a":1}`, `{"a":{"b":1,"b":2}}`, `{"a":[{"b":1},{"b":":"}]}`, `{"a\"":":","b":"\\"}`, `{"\u0061":1,"a":2}`,
		`{"a":{"a":{"a":1}}}`, ` {"a:":"\\\":"} `, `{"a":null}`, `[{"a":1,"a":1}]`, `{"a":1}{"a":1}`, `{"a":1,"A":2}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		object, err := decodePart(base64.RawURLEncoding.EncodeToString([]byte(text)))
		if (err == nil) != (object != nil) {
			t.Errorf("%q: %v with error %v", text, object, err)
		}
		if err != nil && !errors.Is(err, errDuplicate) {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		if duplicate := hasDuplicate(t, decoder); duplicate != errors.Is(err, errDuplicate) {
			t.Errorf("%q: duplicate = %v, error %v", text, duplicate, err)
		}
	})
}

// hasDuplicate reads one JSON value token by token.
func hasDuplicate(t *testing.T, decoder *json.Decoder) bool {
	next, err := decoder.Token()
	if err != nil {
		t.Fatal(err)
	}
	duplicate := false
	names := make(map[any]bool)
	for next == json.Delim('{') && decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		duplicate = duplicate || names[name]
		names[name] = true
		duplicate = hasDuplicate(t, decoder) || duplicate
	}
	for next == json.Delim('[') && decoder.More() {
		duplicate = hasDuplicate(t, decoder) || duplicate
	}
	if next == json.Delim('{') || next == json.Delim('[') {
		if _, err := decoder.Token(); err != nil {
			t.Fatal(err)
		}
	}
	return duplicate
}

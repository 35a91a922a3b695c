package token_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

const issuer = "https://identity.example.com"

// secretKey is what the tests sign HS* tokens with.
func secretKey() []byte { return []byte("a secret of more than 32 bytes, for tests") }

// signingKeys makes a key for every algorithm; the RSA algorithms share one, as making it is slow.
func signingKeys(t testing.TB) map[string]any {
	t.Helper()
	keys := make(map[string]any)
	rsaKey, err := keyset.Generate("RS256")
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range keyset.Algorithms() {
		switch algorithm[:2] {
		case "HS":
			keys[algorithm] = secretKey()
		case "RS", "PS":
			keys[algorithm] = rsaKey
		default:
			if keys[algorithm], err = keyset.Generate(algorithm); err != nil {
				t.Fatal(err)
			}
		}
	}
	return keys
}

// verification turns a signing key into the key that verifies.
func verification(t testing.TB, id string, key any) keyset.Key {
	t.Helper()
	var verifying keyset.Key
	var err error
	if secret, ok := key.([]byte); ok {
		verifying, err = keyset.NewSecret(id, "", secret)
	} else {
		verifying, err = keyset.NewPublic(id, "", key.(crypto.Signer).Public())
	}
	if err != nil {
		t.Fatal(err)
	}
	return verifying
}

func newVerifier(t testing.TB, providers ...token.Provider) *token.Verifier {
	t.Helper()
	verifier, err := token.NewVerifier(providers)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// secretProvider is a provider with a shared secret that asks for nothing but the issuer.
func secretProvider(t testing.TB) token.Provider {
	return token.Provider{
		Name: "identity", Issuer: issuer, Algorithms: []string{"HS256"},
		Source: keyset.NewSet(verification(t, "", secretKey())),
	}
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// compact signs any two texts as header and claims, with the standard library alone, so that what verifies isn't what
// signed.
func compact(t testing.TB, header, claims string, key any, algorithm string) string {
	t.Helper()
	signed := base64url([]byte(header)) + "." + base64url([]byte(claims))
	return signed + "." + base64url(signature(t, signed, key, algorithm))
}

func signature(t testing.TB, signed string, key any, algorithm string) []byte {
	t.Helper()
	hash := map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[algorithm[2:]]
	var digest []byte
	if hash != 0 {
		h := hash.New()
		h.Write([]byte(signed))
		digest = h.Sum(nil)
	}
	var made []byte
	var err error
	switch algorithm[:2] {
	case "HS":
		mac := hmac.New(hash.New, key.([]byte))
		mac.Write([]byte(signed))
		made = mac.Sum(nil)
	case "RS":
		made, err = rsa.SignPKCS1v15(nil, key.(*rsa.PrivateKey), hash, digest)
	case "PS":
		made, err = rsa.SignPSS(rand.Reader, key.(*rsa.PrivateKey), hash, digest, &rsa.PSSOptions{SaltLength: hash.Size()})
	case "ES":
		private := key.(*ecdsa.PrivateKey)
		size := (private.Params().BitSize + 7) / 8
		r, s, signErr := ecdsa.Sign(rand.Reader, private, digest)
		if made, err = make([]byte, 2*size), signErr; err == nil {
			r.FillBytes(made[:size])
			s.FillBytes(made[size:])
		}
	case "Ed":
		made = ed25519.Sign(key.(ed25519.PrivateKey), []byte(signed))
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// signedHS256 signs claims with the shared secret.
func signedHS256(t testing.TB, claims string) string {
	return compact(t, `{"alg":"HS256"}`, claims, secretKey(), "HS256")
}

func toJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// expect verifies raw and compares the reason it is refused for; 0 means that it is accepted.
func expect(t *testing.T, verifier *token.Verifier, raw, provider string, want token.Reason) *identity.Principal {
	t.Helper()
	principal, err := verifier.Verify(context.Background(), raw, provider)
	var refusal *token.Error
	switch {
	case err == nil && want != 0:
		t.Errorf("accepted, want %v", want)
	case err != nil && !errors.As(err, &refusal):
		t.Errorf("error %v of type %T", err, err)
	case err != nil && refusal.Reason != want:
		t.Errorf("refused as %v (%v), want %v", refusal.Reason, err, want)
	case (err == nil) != (principal != nil):
		t.Errorf("principal %v with error %v", principal, err)
	}
	return principal
}

func decode(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

package command

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

const secret = "0123456789abcdef0123456789abcdef"

// parts decodes a token without judging it.
func parts(t *testing.T, raw string) (header, claims map[string]any) {
	t.Helper()
	pieces := strings.Split(strings.TrimSuffix(raw, "\n"), ".")
	if len(pieces) != 3 {
		t.Fatalf("%q isn't a token", raw)
	}
	for i, into := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(pieces[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	return header, claims
}

// pair makes a key pair with the command itself.
func pair(t *testing.T, algorithm string) (private string) {
	t.Helper()
	private = filepath.Join(t.TempDir(), "key.pem")
	if code, _, stderr := call(t, "keys", "new", "--alg", algorithm, "--out", private); code != 0 {
		t.Fatal(stderr)
	}
	return private
}

func TestTokenClaims(t *testing.T) {
	path := file(t, "config.yaml", `
auth:
  providers:
    identity: {issuer: "https://id.example", audiences: [gateway, other], algorithms: [HS384, HS512], secret: "`+secret+strings.Repeat("x", 32)+`"}
    realm: {issuer: "https://realm.example", algorithms: [HS256], secret: "`+secret+`", scope_claim: realm.roles}
`+minimal)
	key := pair(t, "ES384")
	tests := []struct {
		name      string
		args      []string
		algorithm string
		claims    map[string]any // but for iat and exp
	}{
		{"a secret alone", []string{"--secret", secret}, "HS256", map[string]any{"sub": "ada"}},
		{"a key alone", []string{"--key", key, "--sub", "bob"}, "ES384", map[string]any{"sub": "bob"}},
		{"issuer, audience and scopes", []string{"--secret", secret, "--issuer", "i", "--audience", "a", "--scope", "x y", "--scope", "z"}, "HS256",
			map[string]any{"sub": "ada", "iss": "i", "aud": "a", "scope": "x y z"}},
		{"several audiences", []string{"--secret", secret, "--audience", "a", "--audience", "b"}, "HS256",
			map[string]any{"sub": "ada", "aud": []any{"a", "b"}}},
		{"claims are typed", []string{"--secret", secret, "--claim", "n=3", "--claim", "s=three", "--claim", `l=["a",1]`, "--claim", "b=true", "--claim", "e="},
			"HS256", map[string]any{"sub": "ada", "n": 3.0, "s": "three", "l": []any{"a", 1.0}, "b": true, "e": ""}},
		{"a claim replaces a flag's", []string{"--secret", secret, "--claim", "sub=eve"}, "HS256", map[string]any{"sub": "eve"}},
		{"another algorithm", []string{"--secret", secret + secret, "--alg", "HS512"}, "HS512", map[string]any{"sub": "ada"}},
		{"a provider's issuer, audience, algorithm and secret", []string{"--config", path, "--provider", "identity", "--scope", "order"}, "HS384",
			map[string]any{"sub": "ada", "iss": "https://id.example", "aud": "gateway", "scope": "order"}},
		{"a provider's scope claim", []string{"--config", path, "--provider", "realm", "--scope", "order"}, "HS256",
			map[string]any{"sub": "ada", "iss": "https://realm.example", "realm.roles": "order"}},
		{"flags before the provider", []string{"--config", path, "--provider", "identity", "--issuer", "i", "--audience", "other", "--key", key}, "ES384",
			map[string]any{"sub": "ada", "iss": "i", "aud": "other"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"token"}, test.args...)...)
			if code != 0 || stderr != "" {
				t.Fatalf("got %d %s", code, stderr)
			}
			header, claims := parts(t, stdout)
			lifetime := claims["exp"].(float64) - claims["iat"].(float64)
			maps.DeleteFunc(claims, func(name string, _ any) bool { return name == "iat" || name == "exp" })
			if header["alg"] != test.algorithm || !reflect.DeepEqual(claims, test.claims) || lifetime != 3600 {
				t.Errorf("got %v %v for %v s, want %s %v for 3600 s", header, claims, lifetime, test.algorithm, test.claims)
			}
		})
	}
}

func TestTokenIsAccepted(t *testing.T) {
	for _, algorithm := range []string{"ES256", "EdDSA", "RS256"} {
		key := pair(t, algorithm)
		_, stdout, stderr := call(t, "token", "--key", key, "--issuer", "i", "--audience", "gateway", "--scope", "order")
		caller, err := verify(t, key+".pub", algorithm, stdout)
		if err != nil || caller != "ada" {
			t.Errorf("%s: got %q, %v%s", algorithm, caller, err, stderr)
		}
	}
}

func TestBadTokensAreRefused(t *testing.T) {
	key := pair(t, "ES256")
	want := map[string]token.Reason{"expired": token.Expired, "alg-none": token.Invalid}
	for _, kind := range token.BadKinds() {
		code, stdout, stderr := call(t, "token", "--bad", kind, "--key", key, "--issuer", "i", "--audience", "gateway", "--scope", "order")
		if code != 0 {
			t.Fatalf("%s: %s", kind, stderr)
		}
		_, err := verify(t, key+".pub", "ES256", stdout)
		var refused *token.Error
		switch reason, known := want[kind]; {
		case kind == "no-scope":
			if _, claims := parts(t, stdout); err != nil || claims["scope"] != nil {
				t.Errorf("no-scope: %v, %v: it should be a good token without the claim", claims, err)
			}
		case !errors.As(err, &refused), known && refused.Reason != reason:
			t.Errorf("%s: got %v", kind, err)
		}
	}
	_, stdout, _ := call(t, "token", "--ttl", "-5m", "--key", key, "--issuer", "i", "--audience", "gateway")
	var refused *token.Error
	if _, err := verify(t, key+".pub", "ES256", stdout); !errors.As(err, &refused) || refused.Reason != token.Expired {
		t.Errorf("a negative --ttl: got %v, want Expired", err)
	}
}

// verify says who a token of the issuer i for gateway is from.
func verify(t *testing.T, public, algorithm, raw string) (subject string, err error) {
	t.Helper()
	keys, err := keyset.LoadPEM(public)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := token.NewVerifier([]token.Provider{{Name: "p", Issuer: "i", Audiences: []string{"gateway"}, Algorithms: []string{algorithm},
		Leeway: time.Second, Source: keyset.NewSet(keys...)}})
	if err != nil {
		t.Fatal(err)
	}
	caller, err := verifier.Verify(t.Context(), strings.TrimSuffix(raw, "\n"), "")
	if err != nil {
		return "", err
	}
	return caller.Subject, nil
}

func TestTokenRefuses(t *testing.T) {
	key := pair(t, "ES256")
	two := file(t, "two.yaml", "auth: {providers: {a: {issuer: a, algorithms: [HS256], secret: "+secret+"}, b: {issuer: b, algorithms: [HS256], secret: "+
		secret+"}}}\n"+minimal)
	public := file(t, "public.yaml", "auth: {providers: {a: {issuer: a, algorithms: [ES256], public_key_file: "+key+".pub}}}\n"+minimal)
	tests := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a secret and a key", []string{"--secret", secret, "--key", key}, 2, "exclude each other"},
		{"an unknown kind", []string{"--secret", secret, "--bad", "evil"}, 2, "expired"},
		{"an unknown algorithm", []string{"--secret", secret, "--alg", "none"}, 2, "HS256"},
		{"a claim without a value", []string{"--secret", secret, "--claim", "x"}, 2, "NAME=VALUE"},
		{"a short secret", []string{"--secret", "short"}, 1, "32"},
		{"an algorithm of another kind", []string{"--key", key, "--alg", "HS256"}, 1, "HS256"},
		{"a key that isn't there", []string{"--key", "missing.pem"}, 1, "missing.pem"},
		{"a public key", []string{"--key", key + ".pub"}, 1, "key.pem.pub"},
		{"no provider in the config", []string{"--config", file(t, "none.yaml", minimal)}, 1, "there is no provider"},
		{"several providers", []string{"--config", two}, 2, "--provider a or b"},
		{"an unknown provider", []string{"--config", two, "--provider", "c"}, 2, `no provider "c"`},
		{"a provider with public keys only", []string{"--config", public}, 1, "with --key"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"token"}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.says) || stdout != "" {
				t.Errorf("got %d %s%s, want %d and %q", code, stdout, stderr, test.code, test.says)
			}
			if strings.Contains(stderr, secret) {
				t.Error("the secret is printed")
			}
		})
	}
}

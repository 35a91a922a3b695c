package command

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
)

func TestKeysNew(t *testing.T) {
	for _, algorithm := range []string{"ES256", "ES384", "ES512", "EdDSA", "RS256", "PS512"} {
		t.Run(algorithm, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "identity.pem")
			code, stdout, stderr := call(t, "keys", "new", "--alg", algorithm, "--out", out)
			if code != 0 || !strings.Contains(stderr, out+": the private key") {
				t.Fatalf("got %d %s", code, stderr)
			}
			private, err := keyset.LoadPrivatePEM(out)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the private key's file: %v, %v; want mode 600", info.Mode(), err)
			}
			id, err := keyset.Thumbprint(private.Public())
			if err != nil {
				t.Fatal(err)
			}
			var published keyset.JWKS
			if err := json.Unmarshal([]byte(stdout), &published); err != nil || len(published.Keys) != 1 ||
				published.Keys[0].ID != id || published.Keys[0].Algorithm != algorithm {
				t.Errorf("published %s, want the key %s for %s: %v", stdout, id, algorithm, err)
			}
			if strings.Contains(stdout, `"d"`) {
				t.Error("the private key is published")
			}
			for _, half := range []string{out, out + ".pub"} { // jwks says the same of either
				code, stdout, stderr := call(t, "keys", "jwks", half)
				keys, skipped, err := keyset.ParseJWKS([]byte(stdout))
				if code != 0 || err != nil || len(skipped) > 0 || len(keys) != 1 || keys[0].ID != id || !keys[0].Fits(algorithm) {
					t.Errorf("keys jwks %s: %d %s%s: %v", half, code, stdout, stderr, err)
				}
			}
		})
	}
}

func TestKeysRefuse(t *testing.T) {
	there := file(t, "there.pem", "precious")
	tests := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a file that is there isn't overwritten", []string{"new", "--out", there}, 1, "file exists"},
		{"no file", []string{"new"}, 2, "--out FILE is needed"},
		{"a shared secret is no pair", []string{"new", "--alg", "HS256", "--out", "x"}, 2, "no key pairs"},
		{"an unknown algorithm", []string{"new", "--alg", "none", "--out", "x"}, 2, "no key pairs"},
		{"jwks without a file", []string{"jwks"}, 2, "at least 1"},
		{"jwks of a file that isn't there", []string{"jwks", "missing.pem"}, 1, "missing.pem"},
		{"jwks of a file without a key", []string{"jwks", there}, 1, "there.pem"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"keys"}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.says) || stdout != "" {
				t.Errorf("got %d %s%s, want %d and %q", code, stdout, stderr, test.code, test.says)
			}
		})
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "precious" {
		t.Errorf("the file is %q now: %v", text, err)
	}
}

func TestKeysAPI(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		code, stdout, stderr := call(t, "keys", "api")
		lines := regexp.MustCompile(`^key: (gh_[A-Za-z0-9_-]{43})\nsha256: ([0-9a-f]{64})\n$`).FindStringSubmatch(stdout)
		if code != 0 || lines == nil || stderr != "" {
			t.Fatalf("code %d, %q, %q", code, stdout, stderr)
		}
		if sum := sha256.Sum256([]byte(lines[1])); hex.EncodeToString(sum[:]) != lines[2] {
			t.Errorf("the hash of %s isn't %s", lines[1], lines[2])
		}
		seen[lines[1]] = true
	}
	if len(seen) != 2 {
		t.Error("the same key twice")
	}
}

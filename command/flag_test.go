package command

import (
	"os"
	"strings"
	"testing"
)

func TestTheShellCompletesValues(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "auth: {providers: {identity: {issuer: i, algorithms: [HS256], secret: " + secret + "}}}\n" + minimal
	if err := os.WriteFile("config.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"keys new --alg":   "ES256\n",
		"token --alg":      "HS256\n",
		"token --bad":      "expired\n",
		"token --provider": "identity\n",
	} {
		code, stdout, _ := call(t, append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
		if code != 0 || !strings.Contains("\n"+stdout, "\n"+want) || strings.HasPrefix(line, "keys") && strings.Contains(stdout, "HS") {
			t.Errorf("%s: %d\n%s", line, code, stdout)
		}
	}
}

// The start with a key of one's own, as the README has it.
func TestATokenTakesIssuerAndAudienceFromTheUsualFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := call(t, "keys", "new", "--alg", "ES256", "--out", "id.pem"); code != 0 {
		t.Fatal(stderr)
	}
	tests := []struct{ name, auth, issuer string }{
		{"without a file", "", ""},
		{"of its only provider", "auth: {providers: {identity: {issuer: me, audiences: [gateway], algorithms: [ES256], public_key_file: id.pem.pub}}}\n", "me"},
		{"of none of two", "auth: {providers: {a: {issuer: a, algorithms: [ES256], public_key_file: id.pem.pub}, b: {issuer: b, algorithms: [ES256], public_key_file: id.pem.pub}}}\n", ""},
		{"of none of a broken file", "auth: [", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.auth != "" {
				if err := os.WriteFile("config.yaml", []byte(test.auth+minimal), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code, stdout, stderr := call(t, "token", "--key", "id.pem", "--scope", "order")
			if code != 0 {
				t.Fatal(stderr)
			}
			_, claims := parts(t, stdout)
			if issuer, _ := claims["iss"].(string); issuer != test.issuer {
				t.Errorf("iss is %q, want %q", issuer, test.issuer)
			}
		})
	}
}

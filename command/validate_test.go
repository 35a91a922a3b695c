package command

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// minimal is a config with one open route; what is put before it must not name upstreams.
const minimal = "upstreams:\n  order:\n    url: http://127.0.0.1:9001\n    route: {auth: none}\n"

func TestValidate(t *testing.T) {
	provider := func(keys string) string {
		return "auth: {providers: {identity: {issuer: i, " + keys + "}}}\n" + minimal
	}
	hundred := &strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(hundred, "wrong_%02d: 1\n", i)
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	rsaKey := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	tests := []struct {
		name, text string
		code       int
		says       []string
	}{
		{"a good one", minimal, 0, []string{": fine: 1 upstream, 1 route\n"}},
		{"not YAML", "server: [\n", 1, []string{"config.yaml:", "1 problem;"}},
		{"an empty file", "", 1, []string{"config.yaml"}},
		{"an unknown key", "sever: {}\n" + minimal, 1, []string{"config.yaml:1:1: sever: "}},
		{"a key twice", minimal + minimal, 1, []string{"config.yaml:5:1: upstreams: "}},
		{"a wrong type", "server: {drain: {delay: often}}\n" + minimal, 1, []string{"config.yaml:1:", "server.drain.delay: "}},
		{"a variable that isn't set", "server: {admin_token: \"${NOT_SET}\"}\n" + minimal, 1, []string{"NOT_SET"}},
		{"a short secret", provider("algorithms: [HS256], secret: short"), 1, []string{"auth.providers.identity.secret: ", "32"}},
		{"a key file that isn't there", provider("algorithms: [ES256], public_key_file: missing.pem"), 1,
			[]string{"config.yaml:1:80: auth.providers.identity.public_key_file: ", "missing.pem", "1 problem;"}},
		{"a key file that is no PEM", provider("algorithms: [ES256], public_key_file: config.yaml"), 1, []string{"auth.providers.identity.public_key_file: ", "config.yaml"}},
		{"a key file whose keys no algorithm fits", provider("algorithms: [ES256, EdDSA], public_key_file: rsa.pem"), 1,
			[]string{"config.yaml:1:87: auth.providers.identity.public_key_file: ", "rsa.pem: no key fits the algorithms ES256, EdDSA", "are RSA"}},
		{"a key set that is none", provider("algorithms: [ES256], jwks_file: config.yaml"), 1, []string{"config.yaml:1:74: auth.providers.identity.jwks_file: "}},
		{"an issuer, which isn't asked", "auth: {providers: {identity: {issuer: \"http://127.0.0.1:1\", algorithms: [ES256], discovery: true}}}\n" + minimal, 0, []string{": fine: "}},
		{"a file of API keys that is none", "auth: {api_keys: {file: config.yaml}}\n" + minimal, 1, []string{"config.yaml:1:25: auth.api_keys.file: ", "must be a list"}},
		{"a file of revocations that is none", "auth: {revoked: {file: config.yaml}}\n" + minimal, 1, []string{"config.yaml:1:24: auth.revoked.file: ", "line 1"}},
		{"a key for assertions that isn't there", "auth: {assertion: {key_file: none.pem}}\n" + minimal, 1, []string{"config.yaml:1:30: auth.assertion.key_file: "}},
		{"a log file in a folder that isn't there", "log: {output: missing/access.log}\n" + minimal, 1,
			[]string{"config.yaml:1:15: log.output: the folder of the log file: stat missing: no such file or directory, looked for at /", "1 problem;"}},
		{"two files that aren't there", "log: {output: missing/access.log}\nserver: {tls: {certificates: [{cert: a.pem, key: b.pem}]}}\n" + minimal, 1,
			[]string{"config.yaml:1:15: log.output: ", "config.yaml:2:38: server.tls.certificates[0].cert: open a.pem: ", "config.yaml:2:50: server.tls.certificates[0].key: open b.pem: ", "3 problems;"}},
		{"files that aren't there, beside another mistake", "auth: {providers: {\n  r: {issuer: me, algorithms: [ES256], public_key_file: nope.pem},\n  j: {issuer: you, algorithms: [ES256], jwks_file: nope.json}},\n" +
			"  api_keys: {file: k.yaml}, revoked: {file: r.txt}, assertion: {key_file: a.pem}}\n" +
			"server: {tests: t.yaml, h2c: perhaps, tls: {certificates: [{cert: a.crt, key: .}], client_ca: b.pem}}\nlog: {output: config.yaml/log}\n" +
			strings.Replace(minimal, "    route", "    tls: {ca: c.pem, cert: c.crt, key: c.key}\n    route", 1), 1,
			[]string{"config.yaml:2:57: auth.providers.r.public_key_file: open nope.pem: no such file or directory, looked for at /", "config.yaml:3:52: auth.providers.j.jwks_file: ",
				"config.yaml:4:20: auth.api_keys.file: open k.yaml: ", "config.yaml:4:45: auth.revoked.file: ", "config.yaml:4:75: auth.assertion.key_file: ", "config.yaml:5:17: server.tests: ",
				"config.yaml:5:30: server.h2c: ", "config.yaml:5:67: server.tls.certificates[0].cert: ", "server.tls.certificates[0].key: read .: is a directory: write the path of a file",
				"config.yaml:5:95: server.tls.client_ca: ", "config.yaml:6:15: log.output: the folder of the log file: config.yaml is not a folder",
				"config.yaml:10:15: upstreams.order.tls.ca: open c.pem: ", "config.yaml:10:28: upstreams.order.tls.cert: ", "config.yaml:10:40: upstreams.order.tls.key: ", "14 problems;"}},
		{"an upstream's authority that isn't there", strings.Replace(minimal, "    route", "    tls: {ca: none.pem}\n    route", 1), 1,
			[]string{"config.yaml:4:15: upstreams.order.tls.ca: open none.pem: no such file or directory, looked for at /", "1 problem;"}},
		{"files of no use, all of them", "server: {tls: {certificates: [{cert: config.yaml, key: config.yaml}]}}\n" +
			"auth: {revoked: {file: config.yaml}, assertion: {key_file: config.yaml}, providers: {\n  a: {issuer: a, algorithms: [ES256], public_key_file: config.yaml},\n" +
			"  b: {issuer: b, algorithms: [ES256], jwks_file: config.yaml}}}\n" +
			strings.Replace(minimal, "    route", "    tls: {ca: config.yaml, cert: config.yaml, key: rsa.pem}\n    route", 1), 1,
			[]string{"config.yaml:1:10: server.tls: ", "config.yaml:2:24: auth.revoked.file: ", "config.yaml:2:60: auth.assertion.key_file: ", ": make one with gatehouse keys new",
				"config.yaml:3:56: auth.providers.a.public_key_file: ", ": write a file of public keys", "config.yaml:4:50: auth.providers.b.jwks_file: ",
				"config.yaml:8:15: upstreams.order.tls.ca: config.yaml has no PEM certificate: write the file of the authority's",
				"config.yaml:8:34: upstreams.order.tls.cert: config.yaml with the key rsa.pem: ", ": write the PEM files of a certificate", "7 problems;"}},
		{"a file of API keys with two mistakes", "auth: {api_keys: {file: keys.yaml}}\n" + minimal, 1,
			[]string{"config.yaml:1:25: auth.api_keys.file: keys.yaml:1:4: ", "config.yaml:1:25: auth.api_keys.file: keys.yaml:2:21: ", "4 problems;"}},
		{"a hundred problems at once", hundred.String() + minimal, 1, []string{"wrong_00", "wrong_99", "100 problems; nothing was started"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("config.yaml", []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile("rsa.pem", rsaKey, 0o600), os.WriteFile("keys.yaml", []byte("- {ida: ada}\n- {id: eve, sha256: 1}\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := call(t, "validate", "config.yaml")
			for _, says := range test.says {
				if code != test.code || !strings.Contains(stdout+stderr, says) {
					t.Errorf("got %d\n%s%s\nwant %d and %q", code, stdout, stderr, test.code, says)
				}
			}
			if code == 0 {
				return
			}
			served, _, stderr := call(t, "serve", "--config", "config.yaml", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
			if served != 1 || !strings.Contains(stderr, "config.yaml:") {
				t.Errorf("serve ended with %d, want 1 too and the place: %s", served, stderr)
			}
		})
	}
}

func TestValidateWarns(t *testing.T) {
	quiet := file(t, "quiet.yaml", strings.Replace(minimal, "{auth: none}", "{auth: none, limit: {rate: 1/s}}", 1))
	open := file(t, "open.yaml", strings.Replace(minimal, "{auth: none}", "{}", 1))
	says := open + ":4:5: upstreams.order.route.auth: warning: "
	tests := []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // what they contain
	}{
		{"nothing to warn of", []string{quiet}, 0, ": fine: ", ""},
		{"nor is there with --strict", []string{"--strict", quiet}, 0, ": fine: ", ""},
		{"a warning leaves the exit code alone", []string{open}, 0, ": fine: ", says},
		{"--strict doesn't", []string{"--strict", open}, 1, "", says},
		{"and says how many there are", []string{"--strict", open}, 1, "", ": 2 warnings, and --strict allows none\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"validate"}, test.args...)...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) || test.stderr == "" && stderr != "" {
				t.Errorf("got %d\n%s%s\nwant %d, %q and %q", code, stdout, stderr, test.code, test.stdout, test.stderr)
			}
		})
	}
}

func TestValidateFindsTheUsualFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("config.yaml", []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := call(t, "validate"); code != 0 || stdout != "config.yaml: fine: 1 upstream, 1 route\n" {
		t.Errorf("got %d %s%s", code, stdout, stderr)
	}
}

func TestRoutes(t *testing.T) {
	path := file(t, "config.yaml", `
auth: {providers: {identity: {issuer: i, algorithms: [HS256], secret: 0123456789abcdef0123456789abcdef}}}
upstreams:
  order: {url: http://127.0.0.1:9001}
routes:
  - {name: orders, upstream: order, path: /order, hosts: [a.example, b.example], methods: [GET, POST]}
  - {upstream: order, path: /public, auth: none}
`)
	code, stdout, stderr := call(t, "routes", "--config", path)
	want := []string{
		"NAME PATH METHODS HOSTS UPSTREAM AUTH SCOPES",
		"orders /order GET,POST a.example,b.example order jwt order",
		"/public /public any any order none -",
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	if got := strings.Join(lines, "\n"); code != 0 || got != strings.Join(want, "\n") {
		t.Errorf("got %d\n%s%s\nwant\n%s", code, got, stderr, strings.Join(want, "\n"))
	}
}

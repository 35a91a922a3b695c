package command

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const casesConfig = `
auth: {providers: {identity: {issuer: "https://identity.test", algorithms: [ES256], discovery: true}}}
redis: {addresses: ["redis.invalid:6379"]}
upstreams:
  order:
    url: http://order.invalid
    health: {path: /healthz}
    resolve: true
    route: {strip_prefix: true, limit: {rate: 1/h, burst: 1}}
`

const goodCases = `cases:
  - name: an order needs the order scope
    request: {method: GET, url: /order/42, claims: {sub: ada, scope: reports}, client_ip: 203.0.113.7}
    expect: {status: 403, code: scope_missing, route: /order}
  - name: and then reaches the service without its prefix
    request: {url: /order/42, claims: {sub: ada, scope: order}}
    expect: {forwarded: true, upstream: order, upstream_path: /42, request_headers: {X-User-Id: ada}, limits: ["route:/order"]}
  - name: cases don't use up a limit for each other
    request: {url: /order/42, claims: {sub: ada, scope: order}}
    expect: {forwarded: true}
`

const badCases = `cases:
  - name: it is forwarded, in error
    request: {url: /order/42, claims: {sub: ada, scope: reports}}
    expect: {forwarded: true, upstream_path: /42}
  - name: a good one
    request: {url: /nowhere}
    expect: {code: no_route}
`

// No host of this config exists, and none is asked.
func TestCases(t *testing.T) {
	cfg := file(t, "config.yaml", casesConfig)
	for _, test := range []struct {
		name, cases    string
		code           int
		stdout, stderr string
	}{
		{"all hold", goodCases, 0, "ok    an order needs the order scope\n", ""},
		{"they are counted", goodCases, 0, "\n3 cases, 0 failed\n", ""},
		{"one that fails is shown with its line", badCases, 1, "FAIL  it is forwarded, in error (CASES:2)\n", "1 of 2 cases failed"},
		{"with what differs", badCases, 1, "        forwarded: want true, got 403 scope_missing\n        upstream_path: want /42, got none\n        authentication: missing scopes: order\nok    a good one\n", ""},
		{"a key that isn't one", "cases: [{name: a, requets: {}, request: {url: /}, expect: {code: x}}]", 1, "", `:1:19: cases[0].requets: is not a key: did you mean "request"?`},
		{"no case", "cases: []", 1, "", "write at least one case"},
		{"no file", "", 1, "", "no-such-file: can't be read"},
		{"a request that no client can send", "cases: [{name: a, request: {url: order}, expect: {code: x}}]", 1, "        request: the URL \"order\" is neither", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "no-such-file")
			if test.cases != "" {
				path = file(t, "cases.yaml", test.cases)
			}
			code, stdout, stderr := call(t, "test", "--config", cfg, path)
			stdout = strings.ReplaceAll(stdout, path, "CASES")
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("got %d\n%s%s\nwant %d, %q and %q", code, stdout, stderr, test.code, test.stdout, test.stderr)
			}
		})
	}
	if code, _, stderr := call(t, "test", "--config", cfg); code != 2 || !strings.Contains(stderr, "name a file of cases") {
		t.Errorf("without a file of cases: %d %s", code, stderr)
	}
}

func TestCasesAsJUnit(t *testing.T) {
	cfg, cases, report := file(t, "config.yaml", casesConfig), file(t, "cases.yaml", badCases), filepath.Join(t.TempDir(), "report.xml")
	if code, _, stderr := call(t, "test", "--config", cfg, "--junit", report, cases); code != 1 {
		t.Fatalf("%d %s", code, stderr)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suite junitSuite
	if err := xml.Unmarshal(text, &suite); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if suite.Tests != 2 || suite.Failures != 1 || len(suite.Cases) != 2 || suite.Cases[0].Failure == nil || suite.Cases[1].Failure != nil || suite.Cases[0].Line != 2 ||
		!strings.HasPrefix(suite.Cases[0].Failure.Text, "forwarded: want true, got 403 scope_missing\n") {
		t.Errorf("the report is\n%s", text)
	}
	if code, _, stderr := call(t, "test", "--config", cfg, "--junit", filepath.Join(report, "below"), cases); code != 1 || !strings.Contains(stderr, "JUnit") {
		t.Errorf("a report that can't be written: %d %s", code, stderr)
	}
}

// Where server.tests names cases, a config that fails one isn't valid.
func TestConfigsKeepToTheirTests(t *testing.T) {
	for _, test := range []struct {
		name, cases string
		code        int
		says        []string
	}{
		{"cases that hold", goodCases, 0, []string{"fine"}},
		{"a case that fails", badCases, 1, []string{`cases.yaml:2:1: case "it is forwarded, in error": forwarded: want true, got 403 scope_missing`, "3 problems"}},
		{"cases that aren't a file of cases", "case: []", 1, []string{"cases.yaml:1:1: case: is not a key"}},
		{"cases that aren't there", "", 1, []string{"config.yaml:1:17: server.tests: ", "no such file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write := func(name, text string) {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if test.cases != "" {
				write("cases.yaml", test.cases)
			}
			write("config.yaml", "server: {tests: cases.yaml}"+casesConfig)
			code, stdout, stderr := call(t, "validate", "config.yaml")
			for _, says := range test.says {
				if code != test.code || !strings.Contains(stdout+stderr, says) {
					t.Errorf("validate: got %d\n%s%s\nwant %d and %q", code, stdout, stderr, test.code, says)
				}
			}
			if test.code == 0 {
				if code, stdout, _ := call(t, "test"); code != 0 || !strings.Contains(stdout, "3 cases, 0 failed") {
					t.Errorf("test without arguments: %d %s", code, stdout)
				}
				return
			}
			code, _, stderr = call(t, "serve", "--config", "config.yaml", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
			if code != 1 || !strings.Contains(stderr, test.says[0]) {
				t.Errorf("serve: got %d\n%s", code, stderr)
			}
		})
	}
}

// Each config of examples/ comes with cases, which are what its comments promise.
func TestExamplesKeepToTheirCases(t *testing.T) {
	all, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(all) < 6 {
		t.Fatalf("examples are %q, %v", all, err)
	}
	for _, path := range all {
		name, isCases := strings.CutSuffix(path, ".cases.yaml")
		if isCases {
			continue
		}
		name = strings.TrimSuffix(name, ".yaml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			if code, stdout, stderr := call(t, "test", "--config", path, name+".cases.yaml"); code != 0 {
				t.Errorf("%d\n%s%s", code, stdout, stderr)
			}
			if code, _, stderr := call(t, "validate", path); code != 0 {
				t.Errorf("validate: %d %s", code, stderr)
			}
		})
	}
}

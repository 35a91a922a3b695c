package gateway_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/revocation"
)

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// write saves a file of the test's own folder.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

const revokedConfig = `
auth:
  revoked: {file: FILE}
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
  api_keys: {file: KEYS}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /, upstream: app, auth: any, scopes: []}
`

func TestRevocation(t *testing.T) {
	file, keys := filepath.Join(t.TempDir(), "revoked.txt"), filepath.Join(t.TempDir(), "keys.yaml")
	write(t, file, "# none\n")
	write(t, keys, "- {id: ada, sha256: "+sha256Hex("key of ada")+"}\n")
	backend := newRawBackend(t, says(okAnswer)).Addr().String()
	yaml := strings.NewReplacer("FILE", file, "KEYS", keys).Replace(revokedConfig)
	s := start(t, backend, yaml)
	raw := bearer(t, map[string]any{"sub": "eve", "jti": "t1"})
	const key = "X-API-Key: key of ada"
	expect := func(credential, code string) {
		t.Helper()
		if got := s.get("/", credential); got.code() != code {
			t.Errorf("got %d %s, want %q", got.StatusCode, got.body, code)
		}
	}
	// eventually waits for a file's change, which is to be in force within a second; a busy machine gets more.
	eventually := func(credential, code string) {
		t.Helper()
		for range 500 {
			if s.get("/", credential).code() == code {
				return
			}
			ticks(10)
		}
		expect(credential, code)
	}
	name := func(text string) revocation.Name {
		n, err := revocation.ParseName(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	expect(raw, "") // it is remembered from here on
	expect(key, "")
	for _, entry := range []string{"jti:t1", "sub:eve"} {
		s.gw.Revoked().Add(name(entry), time.Now().Add(time.Hour))
		expect(raw, "token_revoked")
		if s.lines(); !strings.Contains(s.log.String(), "it was revoked by "+entry) {
			t.Errorf("the log doesn't name the entry %s", entry)
		}
		s.gw.Revoked().Remove(name(entry))
		expect(raw, "")
	}
	s.gw.Revoked().Add(name("sub:ada"), time.Now().Add(time.Hour))
	expect(key, "api_key_invalid")
	if err := s.gw.Load(parse(t, backend, yaml+"  - {path: /more, upstream: app, auth: none}\n")); err != nil {
		t.Fatal(err)
	}
	expect(key, "api_key_invalid") // a reload keeps it
	s.gw.Revoked().Remove(name("sub:ada"))
	expect(key, "")

	write(t, file, "sub:eve\n")
	eventually(raw, "token_revoked")
	write(t, file, "sub:eve\nnonsense\n") // refused: what was there stays
	write(t, keys, "- {id: ada, sha256: "+sha256Hex("another key")+"}\n")
	eventually(key, "api_key_invalid")
	expect(raw, "token_revoked")
	if err := s.gw.Load(parse(t, backend, strings.Replace(yaml, "revoked: {file: "+file+"}", "revoked: {}", 1))); err != nil {
		t.Fatal(err)
	}
	eventually(raw, "") // the config names no file any more
	if s.counts.get("auth p revoked hit") == 0 || s.counts.get("auth _api_key revoked none") == 0 {
		t.Errorf("counts: %v", s.counts)
	}
}

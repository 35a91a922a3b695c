package gateway_test

import (
	"crypto"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// issuer is an identity service with keys that can be rotated.
type issuer struct {
	*httptest.Server
	t       *testing.T
	fetches atomic.Int64 // of the key set

	mu     sync.Mutex
	keys   []crypto.Signer // those published; the last one signs
	broken http.HandlerFunc
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t}
	i.rotate(0)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"%s/keys"}`, i.URL, i.URL)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		i.fetches.Add(1)
		i.mu.Lock()
		broken, keys := i.broken, i.keys
		i.mu.Unlock()
		if broken != nil {
			broken(w, r)
			return
		}
		var set keyset.JWKS
		for _, key := range keys {
			jwk, err := keyset.NewJWK(key.Public(), "")
			if err != nil {
				t.Error(err)
			}
			set.Keys = append(set.Keys, jwk)
		}
		_ = json.NewEncoder(w).Encode(set)
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// rotate signs with a new key from now on, and leaves as many of the old ones published.
func (i *issuer) rotate(keep int) {
	i.t.Helper()
	key, err := keyset.Generate("ES256")
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(append([]crypto.Signer(nil), i.keys[max(0, len(i.keys)-keep):]...), key)
}

// fail answers the next fetches with broken; nil mends it.
func (i *issuer) fail(broken http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.broken = broken
}

// token signs claims beside iss and exp with the newest key.
func (i *issuer) token(claims map[string]any) string {
	i.t.Helper()
	i.mu.Lock()
	key := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	full := map[string]any{"iss": i.URL, "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(full, claims)
	kid, err := keyset.Thumbprint(key.Public())
	if err != nil {
		i.t.Fatal(err)
	}
	raw, err := token.Sign(full, key, "ES256", kid)
	if err != nil {
		i.t.Fatal(err)
	}
	return raw
}

func (i *issuer) bearer(claims map[string]any) string {
	return "Authorization: Bearer " + i.token(claims)
}

// issuerConfig has one provider by discovery of ISSUER.
const issuerConfig = `
auth:
  providers:
    p: {issuer: "ISSUER", algorithms: [ES256], discovery: true, refresh: 1s, unknown_kid_cooldown: 1s}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /, upstream: app, scopes: []}
`

func (i *issuer) config(yaml string) string { return strings.ReplaceAll(yaml, "ISSUER", i.URL) }

func TestRotationUnderLoadGivesNoWrongAnswer(t *testing.T) {
	i := newIssuer(t)
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), i.config(issuerConfig))
	var load sync.WaitGroup
	stop := make(chan struct{})
	for n := range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				raw := i.bearer(map[string]any{"sub": fmt.Sprint(n)})
				if got := s.get("/", raw); got.StatusCode != 200 {
					t.Errorf("a token of the newest key: %d %s", got.StatusCode, got.body)
				}
				if got := s.get("/", raw[:len(raw)-8]+"AAAAAAAA"); got.code() != "token_invalid" {
					t.Errorf("a forged token: %d %s", got.StatusCode, got.body)
				}
			}
		})
	}
	for range 3 {
		before := s.counts.get("keys p success")
		i.rotate(1) // the key before stays for the tokens that are on their way
		for s.counts.get("keys p success") == before {
			ticks(20)
		}
		ticks(1000) // the cooldown: what signs with unknown keys more often than that has to publish them ahead
	}
	close(stop)
	load.Wait()
	old := i.bearer(nil)
	if got := s.get("/", old); got.StatusCode != 200 {
		t.Fatalf("a good token: %d", got.StatusCode)
	}
	i.rotate(0)
	before := s.counts.get("keys p success")
	for s.counts.get("keys p success") == before {
		ticks(20)
	}
	if got := s.get("/", old); got.code() != "token_invalid" {
		t.Errorf("a remembered token whose key has left: %d %s", got.StatusCode, got.body)
	}
}

func TestAnIssuerThatIsDownAtStart(t *testing.T) {
	i, well := newIssuer(t), newIssuer(t)
	i.fail(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), strings.Replace(i.config(issuerConfig), "    p:",
		`    well: {issuer: "`+well.URL+`", algorithms: [ES256], jwks_url: "`+well.URL+`/keys"}`+"\n    p:", 1))
	got := s.get("/", i.bearer(nil))
	if got.StatusCode != 503 || got.code() != "keys_unavailable" || got.Header.Get("Retry-After") == "" || got.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("without keys: %d %v %s", got.StatusCode, got.Header, got.body)
	}
	for len(s.messages("keys couldn't be refreshed; there are none yet: tokens of these providers get 503 until there are")) == 0 {
		ticks(20)
	}
	for slices.Contains(s.gw.KeylessProviders(), "well") { // its first keys are on their way
		ticks(20)
	}
	if names := s.gw.KeylessProviders(); len(names) != 1 || names[0] != "p" {
		t.Errorf("providers without keys: %q", names)
	}
	if got := s.get("/", well.bearer(nil)); got.StatusCode != 200 {
		t.Errorf("the other provider: %d %s", got.StatusCode, got.body)
	}
	if got := s.get("/"); got.StatusCode != 401 {
		t.Errorf("without a token: %d", got.StatusCode)
	}
	i.fail(nil)
	for len(s.gw.KeylessProviders()) > 0 {
		ticks(20)
	}
	for _, broken := range []http.HandlerFunc{nil, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }} {
		i.fail(broken)
		if got := s.get("/", i.bearer(nil)); got.StatusCode != 200 {
			t.Errorf("after it was mended, and when it fails again: %d %s", got.StatusCode, got.body)
		}
	}
	if s.counts.get("auth p keys_unavailable none") != 1 || s.counts.get("keys p failure") == 0 {
		t.Errorf("counts: %v", s.counts)
	}
}

func TestTwoHundredRoutesAndThousandsOfKidsMakeOneFetchEach(t *testing.T) {
	i := newIssuer(t)
	yaml := i.config(issuerConfig)
	yaml = strings.ReplaceAll(yaml, "1s", "1h")
	for n := range 200 {
		yaml += fmt.Sprintf("  - {path: /r%d, upstream: app, provider: p, scopes: []}\n", n)
	}
	s := start(t, newRawBackend(t, says(okAnswer)).Addr().String(), yaml)
	if got := s.get("/r7", i.bearer(nil)); got.StatusCode != 200 || i.fetches.Load() != 1 {
		t.Errorf("%d after %d fetches", got.StatusCode, i.fetches.Load())
	}
	var all sync.WaitGroup
	for worker := range 8 {
		stranger := newIssuer(t)
		all.Go(func() {
			for range 50 { // many more: helper/keyset
				stranger.rotate(0)
				if got := s.get(fmt.Sprint("/r", worker), stranger.bearer(map[string]any{"iss": i.URL})); got.code() != "token_invalid" {
					t.Errorf("an unknown kid: %d %s", got.StatusCode, got.body)
				}
			}
		})
	}
	all.Wait()
	if n := i.fetches.Load(); n != 2 {
		t.Errorf("%d fetches, want one at start and one for unknown kids", n)
	}
}

func TestAReloadKeepsTheKeys(t *testing.T) {
	i := newIssuer(t)
	backend := newRawBackend(t, says(okAnswer)).Addr().String()
	yaml := strings.ReplaceAll(i.config(issuerConfig), "1s", "1h")
	s := start(t, backend, yaml)
	raw := i.bearer(map[string]any{"sub": "ada"})
	if got := s.get("/", raw); got.StatusCode != 200 {
		t.Fatalf("%d", got.StatusCode)
	}
	i.fail(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	for name, changed := range map[string]string{
		"a route":            yaml + "  - {path: /more, upstream: app, scopes: []}\n",
		"the refresh":        strings.ReplaceAll(yaml, "refresh: 1h", "refresh: 2h"),
		"a second one of it": strings.Replace(yaml, "    p:", `    q: {issuer: other, algorithms: [ES256], jwks_url: "`+i.URL+`/keys"}`+"\n    p:", 1),
	} {
		if err := s.gw.Load(parse(t, backend, changed)); err != nil {
			t.Fatal(err)
		}
		if got := s.get("/", raw); got.StatusCode != 200 {
			t.Errorf("after a change of %s: %d %s", name, got.StatusCode, got.body)
		}
	}
}

package keyset_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/helper/keyset"
)

// issuer publishes keys over real HTTP, or misbehaves.
type issuer struct {
	*httptest.Server
	fetches atomic.Int64 // of the key set
	mu      sync.Mutex
	answer  http.HandlerFunc
}

func newIssuer(t testing.TB, answer http.HandlerFunc) *issuer {
	t.Helper()
	i := &issuer{answer: answer}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.fetches.Add(1)
	i.mu.Lock()
	answer := i.answer
	i.mu.Unlock()
	answer(w, r)
}

func (i *issuer) now(answer http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

// jwks is a set of new ES256 keys with the given kids.
func jwks(t testing.TB, kids ...string) string {
	t.Helper()
	var set keyset.JWKS
	for _, kid := range kids {
		private, err := keyset.Generate("ES256")
		if err != nil {
			t.Fatal(err)
		}
		jwk, err := keyset.NewJWK(private.Public(), "ES256")
		if err != nil {
			t.Fatal(err)
		}
		jwk.ID = kid
		set.Keys = append(set.Keys, jwk)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// says answers with text, and headers as name, value, name, value ...
func says(text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = w.Write([]byte(text))
	}
}

// running is a Remote whose Run runs until the test ends.
type running struct {
	*keyset.Remote
	refreshes chan keyset.Refresh
	stop      func()
}

func run(t testing.TB, o keyset.RemoteOptions) *running {
	t.Helper()
	r := &running{refreshes: make(chan keyset.Refresh, 1000)}
	o.Refreshed = func(refresh keyset.Refresh) { r.refreshes <- refresh }
	if o.Refresh == 0 {
		o.Refresh = time.Hour
	}
	if o.Cooldown == 0 {
		o.Cooldown = time.Hour
	}
	r.Remote = keyset.NewRemote(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// until waits for a refresh with the result.
func (r *running) until(t testing.TB, want keyset.Result) keyset.Refresh {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case refresh := <-r.refreshes:
			if refresh.Result == want {
				return refresh
			}
		case <-deadline:
			t.Fatalf("no refresh is %s", want)
		}
	}
}

// count is how many keys there are for kid; -1 means unavailable.
func (r *running) count(t testing.TB, kid string) int {
	t.Helper()
	keys, err := r.Keys(context.Background(), kid, "ES256")
	var unavailable *keyset.UnavailableError
	switch {
	case errors.As(err, &unavailable):
		if unavailable.Err == nil || unavailable.RetryAfter < time.Second {
			t.Errorf("unavailable because of %v, retry after %s", unavailable.Err, unavailable.RetryAfter)
		}
		return -1
	case err != nil:
		t.Fatal(err)
	}
	return len(keys)
}

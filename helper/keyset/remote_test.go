package keyset_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/keyset"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever is wrong at start, the answer is "unavailable", and the keys come by themselves once it is right.
func TestAnIssuerThatIsBrokenAtStartRecovers(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, broken := range map[string]http.HandlerFunc{
		"it hangs":                       func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"it answers garbage":             says("\x00\xff{{{"),
		"it answers HTML":                says("<!doctype html><title>Sign in</title>"),
		"it answers JSON that is no set": says(`{"error":"nope"}`),
		"it answers an empty set":        says(`{"keys":[]}`),
		"its keys are of unknown kinds":  says(`{"keys":[{"kty":"AKP"},{"kty":"oct","k":"AAAA"}]}`),
		"it answers 10 MB":               says(`{"keys":[` + strings.Repeat(" ", 10<<20) + `]}`),
		"it answers 500":                 status(http.StatusInternalServerError),
		"it answers 404":                 status(http.StatusNotFound),
		"it answers 304 out of the blue": status(http.StatusNotModified),
		"it redirects for ever":          func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
		"it redirects to a file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		},
		"it breaks the connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, broken)
			r := run(t, keyset.RemoteOptions{URL: i.URL})
			started := time.Now()
			if n := r.count(t, "1"); n != -1 {
				t.Errorf("%d keys", n)
			}
			if took := time.Since(started); took > 8*time.Second {
				t.Errorf("the request waited for %s", took)
			}
			if r.Ready() {
				t.Error("ready without keys")
			}
			if refresh := r.until(t, keyset.Failure); refresh.Err == nil || refresh.Keys != 0 {
				t.Errorf("refresh %+v", refresh)
			}
			i.now(says(jwks(t, "1")))
			r.until(t, keyset.Success)
			if n := r.count(t, "1"); n != 1 || !r.Ready() {
				t.Errorf("%d keys after it was mended", n)
			}
		})
	}
}

func TestTheLastGoodSetOutlivesAFailingIssuer(t *testing.T) {
	i := newIssuer(t, says(jwks(t, "1")))
	r := run(t, keyset.RemoteOptions{URL: i.URL, Refresh: time.Second, Cooldown: time.Second})
	r.until(t, keyset.Success)
	for _, broken := range []http.HandlerFunc{says("<html>"), says(`{"keys":[]}`), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }} {
		i.now(broken)
		if refresh := r.until(t, keyset.Failure); refresh.Keys != 1 {
			t.Errorf("refresh %+v", refresh)
		}
		if n := r.count(t, "1"); n != 1 {
			t.Errorf("%d keys while it fails", n)
		}
	}
	i.CloseClientConnections()
	i.Close()
	r.until(t, keyset.Failure)
	if n := r.count(t, "1"); n != 1 || r.Generation() != 0 {
		t.Errorf("%d keys of generation %d while it is down", n, r.Generation())
	}
}

func TestARotatedKeyIsFoundByTheFirstToken(t *testing.T) {
	i := newIssuer(t, says(jwks(t, "old")))
	r := run(t, keyset.RemoteOptions{URL: i.URL})
	r.until(t, keyset.Success)
	i.now(says(jwks(t, "new")))
	if n := r.count(t, "new"); n != 1 {
		t.Errorf("%d keys for the new kid", n)
	}
	if n := r.count(t, "old"); n != 0 || r.Generation() != 1 {
		t.Errorf("%d keys for the old kid, generation %d", n, r.Generation())
	}
	if n := i.fetches.Load(); n != 2 {
		t.Errorf("%d fetches", n)
	}
}

func TestAKeyThatIsAddedEndsNoGeneration(t *testing.T) {
	first := jwks(t, "1")
	i := newIssuer(t, says(first))
	r := run(t, keyset.RemoteOptions{URL: i.URL})
	r.until(t, keyset.Success)
	i.now(says(strings.TrimSuffix(first, "]}") + "," + strings.TrimPrefix(jwks(t, "2"), `{"keys":[`)))
	if n := r.count(t, "2"); n != 1 || r.Generation() != 0 {
		t.Errorf("%d keys, generation %d", n, r.Generation())
	}
}

func TestTenThousandUnknownKidsMakeOneFetch(t *testing.T) {
	set := says(jwks(t, "1"))
	i := newIssuer(t, set)
	r := run(t, keyset.RemoteOptions{URL: i.URL})
	r.until(t, keyset.Success)
	entered := make(chan struct{})
	release := make(chan struct{})
	i.now(func(w http.ResponseWriter, r *http.Request) { close(entered); <-release; set(w, r) }) // a second fetch at once would panic
	var all sync.WaitGroup
	for n := range 10_000 {
		all.Go(func() {
			if got := r.count(t, fmt.Sprint("random", n)); got != 0 {
				t.Errorf("%d keys", got)
			}
		})
	}
	<-entered
	if n := r.count(t, "1"); n != 1 { // a known kid waits for nobody
		t.Errorf("%d keys for the known kid", n)
	}
	close(release)
	all.Wait()
	if n := i.fetches.Load(); n != 2 {
		t.Errorf("%d fetches, want the first one and one more", n)
	}
	if n := r.count(t, "another"); n != 0 || i.fetches.Load() != 2 {
		t.Errorf("%d keys, %d fetches within the cooldown", n, i.fetches.Load())
	}
}

func TestManyRequestsAtStartShareTheFirstFetch(t *testing.T) {
	release := make(chan struct{})
	set := jwks(t, "1")
	i := newIssuer(t, func(w http.ResponseWriter, _ *http.Request) { <-release; _, _ = w.Write([]byte(set)) })
	r := run(t, keyset.RemoteOptions{URL: i.URL})
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if n := r.count(t, "1"); n != 1 {
				t.Errorf("%d keys", n)
			}
		})
	}
	close(release)
	all.Wait()
	if n := i.fetches.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

func TestWhoWaitsIsLetGo(t *testing.T) {
	i := newIssuer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	r := run(t, keyset.RemoteOptions{URL: i.URL})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Keys(ctx, "1", "ES256"); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was given up: %v", err)
	}
	waited := make(chan int, 1)
	go func() { waited <- r.count(t, "1") }()
	r.stop()
	if n := <-waited; n != -1 {
		t.Errorf("%d keys after the end", n)
	}
}

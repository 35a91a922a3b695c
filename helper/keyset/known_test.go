package keyset_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"gatehouse/helper/keyset"
)

func TestKnownKeysCauseNoFetch(t *testing.T) {
	i := newIssuer(t, says(jwks(t, "1")))
	r := run(t, keyset.RemoteOptions{URL: i.URL, Refresh: time.Hour, Cooldown: time.Second})
	r.Wait(t.Context())
	if keys, err := r.Known("1", "ES256"); err != nil || len(keys) != 1 {
		t.Errorf("the key is %v, %v", keys, err)
	}
	fetched := i.fetches.Load()
	if keys, err := r.Known("2", "ES256"); err != nil || len(keys) != 0 || i.fetches.Load() != fetched {
		t.Errorf("an unknown key is %v, %v, after %d fetches more", keys, err, i.fetches.Load()-fetched)
	}
	r.Wait(t.Context()) // at once: they are there
}

func TestKeysThatArentThereAreUnavailableAtOnce(t *testing.T) {
	i := newIssuer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	r := run(t, keyset.RemoteOptions{URL: i.URL, Refresh: time.Hour, Cooldown: time.Second})
	r.Wait(t.Context())
	if _, err := r.Known("1", "ES256"); !errors.As(err, new(*keyset.UnavailableError)) {
		t.Errorf("Known is %v", err)
	}
}

// While the issuer can't be reached, nobody knows whether it has published a key meanwhile.
func TestAnUnknownKidWhoseFetchFailsIsUnavailable(t *testing.T) {
	i := newIssuer(t, says(jwks(t, "1")))
	r := run(t, keyset.RemoteOptions{URL: i.URL})
	r.until(t, keyset.Success)
	i.now(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	for _, test := range []struct {
		name, kid string
		want      int
	}{
		{"the kid that waits for the fetch", "2", -1},
		{"the same kid in the cooldown", "2", -1},
		{"another kid, for which nobody asked", "3", 0},
		{"a kid that is there", "1", 1},
	} {
		if got := r.count(t, test.kid); got != test.want {
			t.Errorf("%s: %d keys, want %d", test.name, got, test.want)
		}
	}
	var unavailable *keyset.UnavailableError
	if _, err := r.Known("2", "ES256"); !errors.As(err, &unavailable) {
		t.Errorf("a look at it says %v", err)
	}
	i.now(says(jwks(t, "1")))
	r.until(t, keyset.Success)
	if got := r.count(t, "2"); got != 0 {
		t.Errorf("%d keys, though the issuer says that it has none of this kid", got)
	}
}

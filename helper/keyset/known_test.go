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

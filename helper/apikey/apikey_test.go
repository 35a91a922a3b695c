package apikey_test

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/helper/apikey"
	"gatehouse/helper/identity"
)

func hash(key string) apikey.Hash { return sha256.Sum256([]byte(key)) }

func store(t *testing.T, keys ...apikey.Key) *apikey.Store {
	t.Helper()
	s, err := apikey.NewStore(keys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCallersAreKnownByTheirKeys(t *testing.T) {
	day := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	s := store(t,
		apikey.Key{ID: "ada", Hash: hash("key of ada"), Scopes: []string{"order", "user"}, Plan: "gold"},
		apikey.Key{ID: "bob", Hash: hash("key of bob"), Expires: day})
	for name, row := range map[string]struct {
		key  string
		now  time.Time
		id   string
		want error
	}{
		"a key that is known":                   {"key of ada", day, "ada", nil},
		"the day before it expires":             {"key of bob", day.Add(-1), "bob", nil},
		"the day that it expires":               {"key of bob", day, "bob", apikey.ErrExpired},
		"a key that isn't known":                {"key of eve", day, "", apikey.ErrUnknown},
		"no key":                                {"", day, "", apikey.ErrUnknown},
		"a key in other letters":                {"Key of ada", day, "", apikey.ErrUnknown},
		"a key with something behind":           {"key of ada ", day, "", apikey.ErrUnknown},
		"the hash of a key":                     {hash("key of ada").String(), day, "", apikey.ErrUnknown},
		"the hash of a key in bytes":            {func() string { h := hash("key of ada"); return string(h[:]) }(), day, "", apikey.ErrUnknown},
		"a key that is far too long to be true": {strings.Repeat("k", 1<<20), day, "", apikey.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := s.Caller(row.key, row.now)
			if !errors.Is(err, row.want) || (p == nil) != (row.id == "") || p != nil && p.Client != row.id {
				t.Errorf("got %+v, %v", p, err)
			}
		})
	}
}

func TestWhatTheUpstreamIsTold(t *testing.T) {
	s := store(t, apikey.Key{ID: "ada", Hash: hash("k"), Scopes: []string{"order", "user"}, Plan: "gold"})
	got, err := s.Caller("k", time.Now())
	want := &identity.Principal{
		Provider: "_api_key", Subject: "ada", Client: "ada", Scopes: identity.Scopes{"order", "user"}, Plan: "gold", ForwardToken: true,
		Headers: []identity.Header{{Name: "X-User-Id", Value: "ada"}, {Name: "X-User-Scopes", Value: "order user"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestKeysThatCantBeToldApartAreRefused(t *testing.T) {
	s := store(t, apikey.Key{ID: "ada", Hash: hash("k")})
	for name, keys := range map[string][]apikey.Key{
		"the same id":  {{ID: "a", Hash: hash("1")}, {ID: "a", Hash: hash("2")}},
		"the same key": {{ID: "a", Hash: hash("1")}, {ID: "b", Hash: hash("1")}},
	} {
		if err := s.Replace(keys); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := s.Caller("k", time.Now()); err != nil || s.Len() != 1 {
		t.Errorf("what was there is gone: %v", err)
	}
}

func TestReplacingTakesEffectAtOnce(t *testing.T) {
	s := store(t, apikey.Key{ID: "ada", Hash: hash("k")})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				if _, err := s.Caller("k", time.Now()); err != nil && !errors.Is(err, apikey.ErrUnknown) {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		for _, key := range []string{"other", "k"} {
			if err := s.Replace([]apikey.Key{{ID: "ada", Hash: hash(key)}}); err != nil {
				t.Error(err)
			}
			if _, err := s.Caller(key, time.Now()); err != nil {
				t.Errorf("right after replacing: %v", err)
			}
		}
	}
	all.Wait()
}

func TestGeneratedKeys(t *testing.T) {
	key, h := apikey.Generate()
	other, _ := apikey.Generate()
	if key == other || !strings.HasPrefix(key, "gh_") || len(key) != 46 || h != hash(key) {
		t.Errorf("key %q and %q, hash %s", key, other, h)
	}
	if parsed, err := apikey.ParseHash(h.String()); err != nil || parsed != h {
		t.Errorf("hash %s is parsed as %s, %v", h, parsed, err)
	}
	for _, text := range []string{"", "00", strings.Repeat("0", 63), strings.Repeat("0", 66), strings.Repeat("g", 64)} {
		if _, err := apikey.ParseHash(text); err == nil {
			t.Errorf("%q is taken for a hash", text)
		}
	}
}

func TestCallersAreKnownByTheirIDs(t *testing.T) {
	day := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	s := store(t, apikey.Key{ID: "ada", Hash: hash("key of ada")}, apikey.Key{ID: "bob", Hash: hash("key of bob"), Expires: day})
	for id, want := range map[string]error{"ada": nil, "bob": apikey.ErrExpired, "eve": apikey.ErrUnknown, "": apikey.ErrUnknown} {
		p, err := s.Named(id, day)
		if !errors.Is(err, want) || !errors.Is(err, apikey.ErrUnknown) && p.Client != id {
			t.Errorf("%q is %v, %v, want %v", id, p, err, want)
		}
	}
}

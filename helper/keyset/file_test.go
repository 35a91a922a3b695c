package keyset_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gatehouse/helper/keyset"
)

func TestAKeyFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jwks.json")
	save := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save(jwks(t, "1"))
	refreshes := make(chan keyset.Refresh, 100)
	file, err := keyset.NewJWKSFile(path, func(r keyset.Refresh) { refreshes <- r })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- file.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	expect := func(want keyset.Result, kid string) {
		t.Helper()
		select {
		case got := <-refreshes:
			if got.Result != want {
				t.Errorf("refresh %+v, want %s", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no refresh, want %s", want)
		}
		if keys, err := file.Keys(ctx, kid, "ES256"); err != nil || len(keys) != 1 {
			t.Errorf("%d keys with kid %s, %v", len(keys), kid, err)
		}
	}
	expect(keyset.Success, "1")
	save(jwks(t, "2"))
	expect(keyset.Success, "2")
	save("{half of it")
	expect(keyset.Failure, "2")
	save(jwks(t, "3"))
	expect(keyset.Success, "3")
	if file.Generation() != 2 {
		t.Errorf("generation %d", file.Generation())
	}
}

func TestAKeyFileThatIsNoGoodIsRefusedAtStart(t *testing.T) {
	for name, text := range map[string]string{"not a set": "<html>", "an empty set": `{"keys":[]}`, "no key of use": `{"keys":[{"kty":"oct"}]}`} {
		path := filepath.Join(t.TempDir(), "jwks.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := keyset.NewJWKSFile(path, func(keyset.Refresh) {}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := keyset.NewPEMFile(filepath.Join(t.TempDir(), "none.pem"), func(keyset.Refresh) {}); err == nil {
		t.Error("a missing file is accepted")
	}
}

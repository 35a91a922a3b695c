package assertion_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/assertion"
	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

func ada() *identity.Principal {
	return &identity.Principal{Subject: "ada", Scopes: identity.Scopes{"order", "user"}}
}

func keyring(t testing.TB) *assertion.Keyring {
	t.Helper()
	keys, err := assertion.NewKeyring()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func assert(t testing.TB, target *assertion.Target, p *identity.Principal, requestID string) string {
	t.Helper()
	text, err := target.Assertion(p, requestID)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// claims verifies an assertion as a service would, with the published keys.
func claims(t testing.TB, keys *assertion.Keyring, text, audience string) map[string]any {
	t.Helper()
	published, err := json.Marshal(keys.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	set, skipped, err := keyset.ParseJWKS(published)
	if err != nil || len(skipped) > 0 {
		t.Fatalf("published %s: %v, %v", published, skipped, err)
	}
	verifier, err := token.NewVerifier([]token.Provider{{Name: "gatehouse", Issuer: assertion.Issuer, Audiences: []string{audience},
		Algorithms: []string{"EdDSA"}, Source: keyset.NewSet(set...)}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := verifier.Verify(context.Background(), text, "")
	if err != nil {
		t.Fatalf("verifying: %v", err)
	}
	return p.Claims
}

func TestWhatAnAssertionSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := keyring(t)
		minter := assertion.NewMinter(keys, assertion.Options{TTL: 30 * time.Second, PerRequest: true})
		got := claims(t, keys, assert(t, minter.Target("order", "orders"), ada(), "r1"), "order")
		now := time.Now().Unix()
		for name, want := range map[string]any{
			"iss": "gatehouse", "sub": "ada", "scope": "order user", "aud": "order", "route": "orders", "request_id": "r1", "iat": now, "exp": now + 30,
		} {
			if number, ok := got[name].(json.Number); ok {
				if n, err := number.Int64(); err != nil || n != want {
					t.Errorf("%s is %v, want %v", name, number, want)
				}
			} else if got[name] != want {
				t.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
		if id, _ := got["jti"].(string); len(id) < 20 || len(got) != 9 {
			t.Errorf("claims %v", got)
		}
		if _, there := claims(t, keys, assert(t, minter.Target("order", "orders"), &identity.Principal{}, "r1"), "order")["sub"]; there {
			t.Error("a caller without a subject got one")
		}
	})
}

func TestOneServesForHalfItsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		minter := assertion.NewMinter(keyring(t), assertion.Options{TTL: 30 * time.Second})
		target, p := minter.Target("order", "orders"), ada()
		first := assert(t, target, p, "r1")
		time.Sleep(15*time.Second - 1)
		if assert(t, target, p, "r2") != first {
			t.Error("it served for less than half its life")
		}
		time.Sleep(1)
		if assert(t, target, p, "r3") == first {
			t.Error("it served for more than half its life")
		}
	})
}

func TestWhoGetsTheSameOne(t *testing.T) {
	minter := assertion.NewMinter(keyring(t), assertion.Options{TTL: time.Hour})
	each := assertion.NewMinter(keyring(t), assertion.Options{TTL: time.Hour, PerRequest: true})
	order, p := minter.Target("order", "orders"), ada()
	eachOrder := each.Target("order", "orders")
	for name, row := range map[string]struct {
		one, other string
		same       bool
	}{
		"the same caller and route": {assert(t, order, p, "r1"), assert(t, order, p, "r2"), true},
		"another caller":            {assert(t, order, p, "r1"), assert(t, order, ada(), "r1"), false},
		"another upstream":          {assert(t, order, p, "r1"), assert(t, minter.Target("user", "users"), p, "r1"), false},
		"where each has its own":    {assert(t, eachOrder, p, "r1"), assert(t, eachOrder, p, "r1"), false},
	} {
		if (row.one == row.other) != row.same {
			t.Errorf("%s: the same is %t", name, !row.same)
		}
	}
}

func TestManyAtOnceGetTheSameOne(t *testing.T) {
	minter := assertion.NewMinter(keyring(t), assertion.Options{TTL: time.Hour})
	target, p := minter.Target("order", "orders"), ada()
	got := make([]string, 100)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = assert(t, target, p, "") })
	}
	all.Wait()
	for _, text := range got {
		if text != got[0] {
			t.Fatal("two were minted")
		}
	}
}

func TestKeysOverlapWhenRotated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := keyring(t)
		minter := assertion.NewMinter(keys, assertion.Options{TTL: 30 * time.Second, PerRequest: true})
		target := minter.Target("order", "orders")
		old := assert(t, target, ada(), "")
		_, next, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time it is the same key
			if err := keys.Rotate(next); err != nil {
				t.Fatal(err)
			}
		}
		claims(t, keys, old, "order")
		claims(t, keys, assert(t, target, ada(), ""), "order")
		if n := len(keys.JWKS().Keys); n != 2 {
			t.Errorf("%d keys are published", n)
		}
		time.Sleep(time.Hour)
		if n := len(keys.JWKS().Keys); n != 1 {
			t.Errorf("%d keys are published after an hour", n)
		}
	})
}

func TestOnlyEd25519Signs(t *testing.T) {
	keys := keyring(t)
	before := keys.JWKS().Keys[0].ID
	other, err := keyset.Generate("ES256")
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Rotate(other); err == nil || keys.JWKS().Keys[0].ID != before {
		t.Errorf("error %v", err)
	}
	if n := len((&assertion.Keyring{}).JWKS().Keys); n != 0 {
		t.Errorf("%d keys of an empty keyring", n)
	}
}

func BenchmarkAssertion(b *testing.B) {
	for name, perRequest := range map[string]bool{"reused": false, "per request": true} {
		b.Run(name, func(b *testing.B) {
			target := assertion.NewMinter(keyring(b), assertion.Options{TTL: time.Hour, PerRequest: perRequest}).Target("order", "orders")
			p := ada()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := target.Assertion(p, "r1"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

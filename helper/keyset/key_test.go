package keyset_test

import (
	"context"
	"crypto"
	"crypto/dsa" //nolint:staticcheck // a kind of key that must be refused
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
)

// public makes a public key for algorithm.
func public(t *testing.T, algorithm string) crypto.PublicKey {
	t.Helper()
	private, err := keyset.Generate(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return private.Public()
}

func mustKey(t *testing.T, id, bound, algorithm string) keyset.Key {
	t.Helper()
	key, err := keyset.NewPublic(id, bound, public(t, algorithm))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAKeyFitsTheAlgorithmsOfItsKindOnly(t *testing.T) {
	rsaFamily := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	for algorithm, want := range map[string][]string{
		"RS256": rsaFamily, "PS512": rsaFamily,
		"ES256": {"ES256"}, "ES384": {"ES384"}, "ES512": {"ES512"}, "EdDSA": {"EdDSA"},
	} {
		key := mustKey(t, "", "", algorithm)
		for _, other := range append(keyset.Algorithms(), "none", "") {
			if got := key.Fits(other); got != slices.Contains(want, other) {
				t.Errorf("a key made for %s: Fits(%s) = %v", algorithm, other, got)
			}
		}
		if _, secret := key.Material().([]byte); secret {
			t.Errorf("a key made for %s can be taken for a secret", algorithm)
		}
	}
	secret, err := keyset.NewSecret("", "", make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range append(keyset.Algorithms(), "none", "") {
		if got := secret.Fits(algorithm); got != strings.HasPrefix(algorithm, "HS") {
			t.Errorf("a secret: Fits(%s) = %v", algorithm, got)
		}
	}
	if _, ok := secret.Public(); ok {
		t.Error("a secret has a public key")
	}
	if (keyset.Key{}).Fits("") {
		t.Error("the zero key fits")
	}
}

func TestAKeyIsBoundToItsOwnAlgorithm(t *testing.T) {
	key := mustKey(t, "", "PS256", "RS256")
	if !key.Fits("PS256") || key.Fits("RS256") {
		t.Errorf("%v", key)
	}
	for bound, algorithm := range map[string]string{"HS256": "RS256", "ES384": "ES256", "none": "EdDSA", "RS256": "EdDSA"} {
		if _, err := keyset.NewPublic("", bound, public(t, algorithm)); err == nil {
			t.Errorf("a key made for %s can be bound to %s", algorithm, bound)
		}
	}
	if _, err := keyset.NewSecret("", "RS256", make([]byte, 32)); err == nil {
		t.Error("a secret can be bound to RS256")
	}
}

func TestWeakAndBrokenKeysAreRefused(t *testing.T) {
	strong := public(t, "RS256").(*rsa.PublicKey)
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		key  crypto.PublicKey
		want string
	}{
		"RSA with 1024 bits":        {&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1023), E: 65537}, "weak key: RSA with 1024 bits"},
		"RSA with 2047 bits":        {&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 2046), E: 65537}, "weak key: RSA with 2047 bits"},
		"RSA with a million bits":   {&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1000000), E: 65537}, "RSA with 1000001 bits"},
		"RSA with exponent 1":       {&rsa.PublicKey{N: strong.N, E: 1}, "exponent 1"},
		"RSA with an even exponent": {&rsa.PublicKey{N: strong.N, E: 65536}, "exponent 65536"},
		"EC on P-224":               {p224.Public(), "isn't supported"},
		"EC off its curve":          {&ecdsa.PublicKey{Curve: elliptic.P256(), X: big.NewInt(1), Y: big.NewInt(1)}, "checking EC key"}, //nolint:staticcheck // only the raw fields can hold such a point
		"Ed25519 cut short":         {ed25519.PublicKey(make([]byte, 31)), "31 bytes"},
		"DSA":                       {&dsa.PublicKey{}, "isn't supported"},
		"a secret as a public key":  {[]byte("0123456789abcdef0123456789abcdef"), "isn't supported"},
		"nothing":                   {nil, "isn't supported"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := keyset.NewPublic("", "", row.key); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error = %v, want %q", err, row.want)
			}
		})
	}
	if _, err := keyset.NewSecret("", "", make([]byte, 31)); err == nil || !strings.Contains(err.Error(), "weak secret") {
		t.Errorf("a secret of 31 bytes: %v", err)
	}
}

func TestASecretIsNeverPrinted(t *testing.T) {
	const text = "hunter2-hunter2-hunter2-hunter2-"
	key, err := keyset.NewSecret("main", "", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		printed := fmt.Sprintf(verb, key)
		if strings.Contains(printed, "hunter2") || strings.Contains(printed, "104") || !strings.Contains(printed, "main") {
			t.Errorf("%s prints %s", verb, printed)
		}
	}
}

func TestASetAnswersWithTheKeysThatMayHaveSigned(t *testing.T) {
	keys := []keyset.Key{
		mustKey(t, "a", "", "ES256"), mustKey(t, "a", "", "EdDSA"), mustKey(t, "b", "", "ES256"), mustKey(t, "", "", "ES384"),
	}
	set := keyset.NewSet(keys...)
	for name, row := range map[string]struct {
		kid, algorithm string
		want           []keyset.Key
	}{
		"the kid chooses":                         {"b", "ES256", keys[2:3]},
		"of one kid with two kinds, the fitting":  {"a", "EdDSA", keys[1:2]},
		"without kid, all that fit":               {"", "ES256", []keyset.Key{keys[0], keys[2]}},
		"an unknown kid has no key":               {"c", "ES256", nil},
		"a key without ID answers to every kid":   {"c", "ES384", keys[3:4]},
		"a key without ID answers to another kid": {"a", "ES384", keys[3:4]},
		"an algorithm that no key fits":           {"a", "RS256", nil},
		"no algorithm":                            {"", "none", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := set.Keys(context.Background(), row.kid, row.algorithm)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(row.want) {
				t.Errorf("Keys = %v, %v, want %v", got, err, row.want)
			}
			if n := testing.AllocsPerRun(10, func() { _, _ = set.Keys(context.Background(), row.kid, row.algorithm) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func TestASetOffersNamelessKeysAfterTheNamed(t *testing.T) {
	nameless, named := mustKey(t, "", "", "ES256"), mustKey(t, "a", "", "ES256")
	got, err := keyset.NewSet(nameless, named).Keys(context.Background(), "a", "ES256")
	if err != nil || len(got) != 2 || got[0].ID != "a" || got[1].ID != "" {
		t.Errorf("Keys = %v, %v", got, err)
	}
}

func TestASecretIsCopied(t *testing.T) {
	secret := make([]byte, 32)
	key, err := keyset.NewSecret("", "", secret)
	if err != nil {
		t.Fatal(err)
	}
	secret[0] = 1
	if key.Material().([]byte)[0] != 0 {
		t.Error("the key changes with the slice that it was made of")
	}
}

func TestASetNeverOffersMoreThanEightKeys(t *testing.T) {
	var keys []keyset.Key
	for range 20 {
		keys = append(keys, mustKey(t, "", "", "EdDSA"), mustKey(t, "same", "", "EdDSA"))
	}
	set := keyset.NewSet(keys...)
	for _, kid := range []string{"", "same", "other"} {
		if got, _ := set.Keys(context.Background(), kid, "EdDSA"); len(got) != 8 {
			t.Errorf("kid %q: %d keys", kid, len(got))
		}
	}
}

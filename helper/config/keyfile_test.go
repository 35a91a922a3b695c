package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseAPIKeys(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	got, err := ParseAPIKeys("keys.yaml", []byte("- {id: ada, sha256: "+hash+", scopes: [order], plan: gold, expires: 2027-01-01}\n"), map[string]Plan{"gold": {}})
	want := []APIKey{{ID: "ada", SHA256: hash, Scopes: []string{"order"}, Plan: "gold", Expires: Date{time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := ParseAPIKeys("keys.yaml", []byte("[]"), nil); err != nil || len(got) != 0 {
		t.Errorf("no keys: %+v, %v", got, err)
	}
	for name, row := range map[string]struct{ text, want string }{
		"empty":          {"# nothing\n", "keys.yaml:1:1: is empty: write a list of keys such as"},
		"a mapping":      {"keys: []\n", "must be a list"},
		"an unknown key": {"- {id: ada, sha265: " + hash + "}\n", `keys.yaml:1:13: [0].sha265: is not a key: did you mean "sha256"?`},
		"no hash":        {"- id: ada\n", "keys.yaml:1:3: [0].sha256: is not a SHA-256"},
		"the same id":    {"- {id: a, sha256: " + hash + "}\n- {id: a, sha256: " + strings.Repeat("b", 64) + "}\n", "keys.yaml:2:8: [1].id: is the same as that of key 1"},
		"the same hash":  {"- {id: a, sha256: " + hash + "}\n- {id: b, sha256: " + strings.ToUpper(hash) + "}\n", "keys.yaml:2:19: [1].sha256: is the same"},
		"no such plan":   {"- {id: a, sha256: " + hash + ", plan: gold}\n", "[0].plan"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseAPIKeys("keys.yaml", []byte(row.text), nil); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestLocate(t *testing.T) {
	text := []byte("auth:\n  providers:\n    identity:\n      public_key_file: ${KEY}\n")
	for key, want := range map[string]string{
		"auth.providers.identity.public_key_file": "c.yaml:4:24: auth.providers.identity.public_key_file: is gone",
		"auth.providers.identity.jwks_file":       "c.yaml:3:5: auth.providers.identity.jwks_file: is gone",
		"upstreams.order":                         "c.yaml:1:1: upstreams.order: is gone",
	} {
		if got := Locate("c.yaml", text, Found{key, "is gone"}).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := Locate("c.yaml", []byte("{"), Found{"auth", "is gone"}).Error(); got != "c.yaml:1:1: auth: is gone" {
		t.Errorf("of a text that isn't YAML: %q", got)
	}
}

package token

import (
	"encoding/base64"
	"testing"
)

func TestUnverifiedSubject(t *testing.T) {
	with := func(payload string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
	}
	for _, row := range []struct{ name, raw, want string }{
		{"a token's subject", with(`{"sub":"ada","iss":"x"}`), "ada"},
		{"without a subject", with(`{"iss":"x"}`), ""},
		{"a subject that is no text", with(`{"sub":7}`), ""},
		{"no JSON", with(`{"sub":`), ""},
		{"no base64", "e30.!!.c2ln", ""},
		{"no signature", "e30.e30", ""},
		{"nothing", "", ""},
	} {
		if got := UnverifiedSubject(row.raw); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

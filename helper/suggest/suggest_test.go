package suggest_test

import (
	"testing"

	"gatehouse/helper/suggest"
)

func TestSuffix(t *testing.T) {
	names := []string{"compress", "request_id", "ip_allow", "ip_deny"}
	for _, test := range []struct {
		name, word, want string
	}{
		{"a letter is missing", "compres", `: did you mean "compress"?`},
		{"a letter is too much", "requests_id", `: did you mean "request_id"?`},
		{"case doesn't count", "IP_ALLOW", `: did you mean "ip_allow"?`},
		{"nothing is near", "cache", ""},
		{"no word", "", ""},
		{"a word too long to compare", string(make([]byte, 1000)), ""},
	} {
		if got := suggest.Suffix(test.word, names); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

package field_test

import (
	"testing"

	"gatehouse/helper/field"
)

func TestNamesThatSomeServerTakesForTheSameHaveOneSpelling(t *testing.T) {
	for _, test := range []struct{ name, spelt, want string }{
		{"the plain one", "X-User-Id", "X-User-Id"},
		{"underscores", "X_user_id", "X-User-Id"},
		{"another byte", "X.user!id", "X-User-Id"},
		{"digits stay", "X-B3-Traceid", "X-B3-Traceid"},
		{"nothing", "", ""},
	} {
		if got := field.Plain(test.spelt); got != test.want {
			t.Errorf("%s: Plain is %q, want %q", test.name, got, test.want)
		}
	}
	if got := field.Spelling("x-USER-id"); got != "X-User-Id" {
		t.Errorf("Spelling is %q", got)
	}
}

package config

import (
	"regexp"
	"testing"
)

// Each set-up that the reference shows is a whole and good file.
func TestTheSetUpsOfTheReferenceAreGood(t *testing.T) {
	env := func(string) (string, bool) { return "0123456789abcdef0123456789abcdef", true }
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(referenceHead, -1)
	if len(found) != 5 {
		t.Fatalf("there are %d set-ups, want 5", len(found))
	}
	for _, match := range found {
		if _, err := Parse("config.yaml", []byte(match[1]), env); err != nil {
			t.Errorf("%s%v", match[1], err)
		}
	}
}

package command

import (
	"os"
	"regexp"
	"testing"
)

// The first line of the shipped config points at what the command prints.
func TestSchema(t *testing.T) {
	sample := shippedConfig(t)
	match := regexp.MustCompile(`^# yaml-language-server: \$schema=(\S+)\n`).FindSubmatch(sample)
	if match == nil {
		t.Fatalf("the shipped config begins with %.60q", sample)
	}
	named, err := os.ReadFile("../" + string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := call(t, "schema"); code != 0 || stdout != string(named) || stderr != "" {
		t.Errorf("got %d, %d bytes and %q, want 0 and the %d bytes of %s", code, len(stdout), stderr, len(named), match[1])
	}
}

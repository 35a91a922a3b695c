package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Whatever the text, Parse returns a config that it would return again, or problems that say where and what, one a line,
// without a value from the environment.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, "testdata/reference.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(smallest))
	f.Add([]byte(smallest + identity))
	f.Add([]byte("a: &a [*a, *a]\nb: !!binary x\n? {c: d}\n: |\n  ${X:-}\n"))

	const value = "environment's own\n[value"
	env := func(name string) (string, bool) { return value, len(name)%2 == 1 }
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("f", text, env)
		again, errAgain := Parse("f", text, env)
		if !reflect.DeepEqual(err, errAgain) || !reflect.DeepEqual(c, again) {
			t.Fatalf("a second Parse gave another result: %v, then %v", err, errAgain)
		}
		if err == nil {
			if Hash(c) != Hash(again) {
				t.Fatal("the same config has two hashes")
			}
			return
		}
		var problems *Problems
		if c != nil || !errors.As(err, &problems) || len(*problems) == 0 {
			t.Fatalf("got %v and %v, want problems alone", c, err)
		}
		if lines := strings.Split(err.Error(), "\n"); len(lines) != len(*problems) {
			t.Fatalf("%d problems in %d lines:\n%v", len(*problems), len(lines), err)
		}
		if strings.Contains(err.Error(), "environment's own") && !strings.Contains(string(text), "environment's own") {
			t.Fatalf("a value from the environment is shown:\n%v", err)
		}
		for _, problem := range *problems {
			if problem.Line < 1 || problem.Column < 1 || problem.Message == "" {
				t.Fatalf("%+v doesn't say where and what", problem)
			}
		}
	})
}

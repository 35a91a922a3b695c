package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Each testdata/bad/NAME.yaml has the problems that it must lead to, all of them, in NAME.txt.
func TestParseBad(t *testing.T) {
	env := func(name string) (string, bool) {
		values := map[string]string{
			"SHORT_SECRET": "hunter2", "BAD_TIMEOUT": "hunter2", "LOG_FORMAT": "hunter2", "HALF": "hunter2", "STRUCTURE": "a, b]\nserver: {listen: hunter2}", "LATIN1": "hunter2\xe9",
		}
		value, ok := values[name]
		return value, ok
	}
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(file), text, env)
			var problems *Problems
			if !errors.As(err, &problems) {
				t.Fatalf("the error is %v, not *Problems", err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("a problem shows a value from the environment or a secret")
			}
		})
	}
}

func TestLoadReportsAFileThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large.yaml")
	if err := os.WriteFile(large, make([]byte, maxFileSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"a missing file", filepath.Join(folder, "none.yaml"), filepath.Join(folder, "none.yaml") + ": can't be read: no such file or directory: put it there, or correct the path"},
		{"a missing file with a relative path", "none.yaml",
			"none.yaml: can't be read: no such file or directory, looked for at " + filepath.Join(here, "none.yaml") + ": a relative path begins in the working directory; put the file there, or write an absolute path"},
		{"a folder", folder, folder + ": can't be read: is a directory: write the path of a file that can be read"},
		{"a file that is too large", large, large + ":1:1: is larger than 4 MiB: is it a config file?"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Load(test.path, noEnv); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestAHundredProblemsAtOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("upstreams: {order: {url: http://order:8080}}\nroutes:\n")
	for i := range 100 {
		text.WriteString("- {path: /" + strconv.Itoa(i) + ", upstream: oder}\n")
	}
	_, err := Parse("config.yaml", []byte(text.String()), noEnv)
	var problems *Problems
	if !errors.As(err, &problems) || len(*problems) != 100 {
		t.Fatalf("got %v", err)
	}
	for i, problem := range *problems {
		want := Problem{"config.yaml", 3 + i, 23 + len(strconv.Itoa(i)), "routes[" + strconv.Itoa(i) + "].upstream", `"oder" is not one of upstreams: did you mean "order"?`}
		if problem != want {
			t.Errorf("got %+v, want %+v", problem, want)
		}
	}
}

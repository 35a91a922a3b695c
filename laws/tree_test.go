package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// text is a file of the repository, with its path from the root.
type text struct {
	path string
	data string
}

// source is a Go file.
type source struct {
	path string // from the root, with slashes
	set  *token.FileSet
	file *ast.File
}

func (s source) folder() string { return path.Dir(s.path) }
func (s source) isTest() bool   { return strings.HasSuffix(s.path, "_test.go") }

// notOurs are folders that a build or a tool makes.
func notOurs(name string) bool {
	switch name {
	case ".git", "bin", "dist", "node_modules":
		return true
	}
	return false
}

// texts reads every text file of the repository, whether or not git knows it: the tests run in a copy without git too.
func texts(t *testing.T) []text {
	t.Helper()
	var all []text
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && notOurs(entry.Name()):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err == nil && !strings.Contains(string(data), "\x00") { // pictures and binaries are not text
			all = append(all, text{filepath.ToSlash(name), string(data)})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sources are the Go files among the texts.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, f := range texts(t) {
		if strings.HasSuffix(f.path, ".go") && !strings.Contains(f.path, "testdata/") {
			all = append(all, parse(t, f.path, f.data))
		}
	}
	if len(all) < 100 {
		t.Fatalf("only %d Go files were found", len(all))
	}
	return all
}

func parse(t *testing.T, name, data string) source {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, data, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{name, set, file}
}

// example is a piece of code that a rule is tried on.
type example struct {
	path, code string
	allowed    bool
}

// try fails unless a rule finds fault with what isn't allowed, and only with that.
func try(t *testing.T, rule func(source) []string, examples map[string]example) {
	t.Helper()
	for name, e := range examples {
		if faults := rule(parse(t, e.path, e.code)); (len(faults) == 0) != e.allowed {
			t.Errorf("%s: the rule says %q", name, faults)
		}
	}
}

// obey fails for each fault that a rule finds in the repository.
func obey(t *testing.T, rule func(source) []string) {
	t.Helper()
	for _, s := range sources(t) {
		for _, fault := range rule(s) {
			t.Errorf("%s: %s", s.path, fault)
		}
	}
}

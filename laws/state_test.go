package laws

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// constant says whether a value can't be changed once it is made: an error, a pattern, a description.
func constant(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		list, ok := value.(*ast.CompositeLit)
		if !ok {
			return false
		}
		array, ok := list.Type.(*ast.ArrayType) // an array, which is copied when it is passed, not a slice
		return ok && array.Len != nil
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return false
	}
	switch pkg.Name + "." + selector.Sel.Name {
	case "errors.New", "fmt.Errorf", "regexp.MustCompile", "strings.NewReplacer", "prometheus.NewDesc", "netip.MustParsePrefix", "netip.MustParseAddr":
		return true
	}
	return false
}

// mutableVars finds variables of a package. Allowed are those that nothing changes, assertions (var _ T = …), embedded
// files, and main's version, which the linker sets.
func mutableVars(s source) (faults []string) {
	if s.isTest() {
		return nil
	}
	for _, decl := range s.file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR || group.Doc != nil && strings.Contains(docText(group.Doc), "//go:embed") {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if name.Name == "_" || s.path == "main.go" && name.Name == "version" || i < len(value.Values) && constant(value.Values[i]) {
					continue
				}
				faults = append(faults, fmt.Sprintf("var %s: state is passed, not global", name.Name))
			}
		}
	}
	return faults
}

// docText is a comment with its directives, which CommentGroup.Text leaves out.
func docText(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, line := range group.List {
		b.WriteString(line.Text + "\n")
	}
	return b.String()
}

func TestNoPackageHasMutableState(t *testing.T) {
	try(t, mutableVars, map[string]example{
		"a sentinel":     {"a/a.go", `package a; var ErrX = errors.New("x")`, true},
		"a pattern":      {"a/a.go", "package a; var form = regexp.MustCompile(`x`)", true},
		"an assertion":   {"a/a.go", `package a; var _ I = T{}`, true},
		"an array":       {"a/a.go", `package a; var names = [...]string{"x"}`, true},
		"a slice":        {"a/a.go", `package a; var names = []string{"x"}`, false},
		"a map":          {"a/a.go", `package a; var seen = map[string]bool{}`, false},
		"a counter":      {"a/a.go", `package a; var n int`, false},
		"in a group":     {"a/a.go", `package a; var ( ErrX = errors.New("x"); mu sync.Mutex )`, false},
		"an embed":       {"a/a.go", "package a\n\n// why\n//\n//go:embed x\nvar x []byte", true},
		"main's version": {"main.go", `package main; var version string`, true},
		"a test's table": {"a/a_test.go", `package a; var rows = []string{"x"}`, true},
	})
	obey(t, mutableVars)
}

func TestNothingHappensAtImport(t *testing.T) {
	rule := func(s source) (faults []string) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				faults = append(faults, "func init: do it where it is called")
			}
		}
		return faults
	}
	try(t, rule, map[string]example{
		"a function": {"a/a.go", `package a; func init() {}`, false},
		"a method":   {"a/a.go", `package a; func (t T) init() {}`, true},
	})
	obey(t, rule)
}

// sleeps finds tests that wait for the real clock. In a synctest bubble, a sleep is how its clock is moved.
func sleeps(s source) (faults []string) {
	if !s.isTest() {
		return nil
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			return !isSelector(n.Fun, "synctest", "Test")
		case *ast.SelectorExpr:
			if isSelector(n, "time", "Sleep") {
				faults = append(faults, fmt.Sprintf("line %d: time.Sleep outside of synctest.Test: wait for what happens", s.set.Position(n.Pos()).Line))
			}
		}
		return true
	})
	return faults
}

func isSelector(expr ast.Expr, pkg, name string) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	ident, ok := selector.X.(*ast.Ident)
	return ok && ident.Name == pkg
}

func TestNoTestSleeps(t *testing.T) {
	try(t, sleeps, map[string]example{
		"a sleep":       {"a/a_test.go", `package a; func f() { time.Sleep(1) }`, false},
		"as a value":    {"a/a_test.go", `package a; var f = time.Sleep`, false},
		"in a bubble":   {"a/a_test.go", `package a; func f() { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }`, true},
		"after one":     {"a/a_test.go", `package a; func f() { synctest.Test(t, g); time.Sleep(1) }`, false},
		"not in a test": {"a/a.go", `package a; func f() { time.Sleep(1) }`, true},
	})
	obey(t, sleeps)
}

package laws

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

const module = "gatehouse"

// layer is how far up a folder is; a package imports from its own layer or a lower one. Tools that aren't part of the
// gateway stand above it, and grafana, which only they import, at the bottom.
func layer(folder string) int {
	top, _, _ := strings.Cut(folder, "/")
	switch top {
	case "grafana":
		if folder != "grafana" {
			return 6
		}
		return 0
	case "helper":
		return 0
	case "logger":
		return 1
	case "middleware":
		return 2
	case "handler":
		return 3
	case "command":
		return 4
	case ".":
		return 5
	}
	return 6
}

// within says whether a folder is one of these or below one of them.
func within(folder string, parents ...string) bool {
	for _, parent := range parents {
		if folder == parent || strings.HasPrefix(folder, parent+"/") {
			return true
		}
	}
	return false
}

// wrongImports finds imports that go up, or that only the composition root may have. Tests are held to it too, but a test
// may look at the metrics that its subject fills.
func wrongImports(s source) (faults []string) {
	folder := s.folder()
	for _, spec := range s.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || imported != module && !strings.HasPrefix(imported, module+"/") {
			continue
		}
		imported = strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
		if imported == "" {
			imported = "."
		}
		switch {
		case layer(imported) > layer(folder):
			faults = append(faults, fmt.Sprintf("%s is above %s", imported, folder))
		case within(imported, "helper/config") && !within(folder, "command", "handler/gateway", "helper/config"):
			faults = append(faults, "helper/config is for command and handler/gateway: give the package its own Options")
		case within(imported, "helper/metrics") && !s.isTest() && !within(folder, "command", "helper/metrics"):
			faults = append(faults, "helper/metrics is for command: define the small observer that is needed")
		}
	}
	return faults
}

func TestImportsGoDownOnly(t *testing.T) {
	try(t, wrongImports, map[string]example{
		"a helper imports a helper":          {"helper/a/a.go", `package a; import _ "gatehouse/helper/route"`, true},
		"a helper imports a stage":           {"helper/a/a.go", `package a; import _ "gatehouse/middleware"`, false},
		"a helper imports the logger":        {"helper/a/a.go", `package a; import _ "gatehouse/logger"`, false},
		"a stage imports a handler":          {"middleware/a.go", `package a; import _ "gatehouse/handler/proxy"`, false},
		"a handler imports the command line": {"handler/a/a.go", `package a; import _ "gatehouse/command"`, false},
		"the command line imports a handler": {"command/a.go", `package a; import _ "gatehouse/handler/proxy"`, true},
		"a stage imports the config":         {"middleware/a.go", `package a; import _ "gatehouse/helper/config"`, false},
		"the assembler imports the config":   {"handler/gateway/a.go", `package a; import _ "gatehouse/helper/config"`, true},
		"a handler imports the metrics":      {"handler/a/a.go", `package a; import _ "gatehouse/helper/metrics"`, false},
		"something imports main":             {"command/a.go", `package a; import _ "gatehouse"`, false},
		"another module":                     {"helper/a/a.go", `package a; import _ "gatehouse2/command"`, true},
	})
	obey(t, wrongImports)
}

// The only package that knows zap's cores is the logger.
func TestOnlyTheLoggerKnowsZapCores(t *testing.T) {
	rule := func(s source) (faults []string) {
		for _, spec := range s.file.Imports {
			if spec.Path.Value == `"go.uber.org/zap/zapcore"` && !s.isTest() && !within(s.folder(), "logger") {
				faults = append(faults, "zapcore is the logger's")
			}
		}
		return faults
	}
	try(t, rule, map[string]example{
		"a helper": {"helper/a/a.go", `package a; import _ "go.uber.org/zap/zapcore"`, false},
		"a logger": {"logger/a.go", `package a; import _ "go.uber.org/zap/zapcore"`, true},
	})
	obey(t, rule)
}

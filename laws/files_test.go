package laws

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

const maxLines = 300

func TestFilesAreShort(t *testing.T) {
	for _, f := range texts(t) {
		if lines := strings.Count(f.data, "\n"); strings.HasSuffix(f.path, ".go") && lines > maxLines {
			t.Errorf("%s has %d lines: split it by topic, %d are enough", f.path, lines, maxLines)
		}
	}
}

// Exactly one package comment a package, in doc.go; a program's may be in any one of its files.
func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	documented, folders := map[string][]string{}, map[string]string{}
	for _, s := range sources(t) {
		name := s.file.Name.Name
		if !s.isTest() {
			folders[s.folder()] = name
		}
		if s.file.Doc == nil || s.file.Doc.Text() == "" { // a directive isn't a comment
			continue
		}
		documented[s.folder()] = append(documented[s.folder()], path.Base(s.path))
		if opening := "Package " + name + " "; name != "main" && !strings.HasPrefix(s.file.Doc.Text(), opening) {
			t.Errorf("%s: a package comment begins with %q", s.path, opening)
		}
	}
	for folder, name := range folders {
		where := documented[folder]
		if len(where) != 1 || where[0] != "doc.go" && name != "main" {
			t.Errorf("%s: it has package comments in %q; it needs one, in doc.go", folder, where)
		}
	}
}

func TestPackagesAreNamedForWhatTheyHold(t *testing.T) {
	for _, s := range sources(t) {
		switch name := strings.TrimSuffix(s.file.Name.Name, "_test"); name {
		case "util", "utils", "common", "helper", "helpers", "misc", "shared", "types", "base":
			t.Errorf("%s: package %s holds anything: name the concept", s.path, name)
		default:
			if folder := path.Base(s.folder()); name != "main" && folder != "." && name != folder {
				t.Errorf("%s: package %s is in the folder %s", s.path, name, folder)
			}
		}
	}
}

// machine is a path of one machine, or a place where packages are fetched. It is put together so that it doesn't find itself.
var machine = regexp.MustCompile(`(?:^|[^\w.}-])/(?:wor` + `k|roo` + `t|home/[a-z]+)/|proxy\.golan` + `g\.org|npmj` + `s\.org|\bpyp` + `i\.org|deb\.debia` + `n\.org|artifactor` + `y`)

// private finds what belongs to one machine.
func private(line string) string {
	if strings.Contains(line, "/home/nonroot") { // the image's user
		return ""
	}
	return machine.FindString(line)
}

func TestNoFileNamesAMachine(t *testing.T) {
	for line, found := range map[string]bool{
		"cd /wor" + "k/main":                    true,
		"file:///wor" + "k/x":                   true,
		"GOPROXY=https://proxy.golan" + "g.org": true,
		"/api/v1/wor" + "k/42":                  false,
		"the root/branch of a tree":             false,
	} {
		if got := private(line) != ""; got != found {
			t.Errorf("%q: found is %v", line, got)
		}
	}
	for _, f := range texts(t) {
		for i, line := range strings.Split(f.data, "\n") {
			if found := private(line); found != "" {
				t.Errorf("%s:%d: %q belongs to one machine", f.path, i+1, found)
			}
		}
	}
}

// A skipped test looks like a passed one, so only a missing program is a reason, and the line names it.
func TestSkipsNameAProgram(t *testing.T) {
	skip := regexp.MustCompile(`\bt\.Skip(?:f|Now)?\(`)
	program := regexp.MustCompile(`redis-server|prometheus|promtool|chromium|docker|curl|openssl|racedetector|go command`)
	for _, f := range texts(t) {
		for i, line := range strings.Split(f.data, "\n") {
			if strings.HasSuffix(f.path, "_test.go") && f.path != "laws/files_test.go" && skip.MatchString(line) && !program.MatchString(line) {
				t.Errorf("%s:%d: %s", f.path, i+1, strings.TrimSpace(line))
			}
		}
	}
}

package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildOutside builds the example of docs/filters.md as its user does: in a module of its own, in another folder.
func buildOutside(t *testing.T) (program string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/customfilter")); err != nil {
		t.Fatal(err)
	}
	// With the very modules of this one, all of which go test has downloaded, nothing else needs to be.
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"mod", "edit", "-module", "example", "-require", "gatehouse@v0.0.0", "-replace", "gatehouse=" + root},
		{"build", "-o", "customfilter", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, output)
		}
	}
	return filepath.Join(folder, "customfilter")
}

func TestAFilterOfOnesOwnIsCompiledIn(t *testing.T) {
	program := buildOutside(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "for ", r.Header.Get("X-Idempotency-Scope"))
	}))
	defer service.Close()
	path := file(t, "config.yaml", fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
upstreams: {order: {url: %q, route: {auth: none, filters: [request_id, "idempotency_key:64"]}}}
`, service.URL))

	if code, _, stderr := call(t, "validate", path); code != inputWrong || !strings.Contains(stderr, `"idempotency_key" is not a filter`) {
		t.Errorf("without it, validate is %d, %q", code, stderr)
	}
	if output, err := exec.Command(program, "validate", path).CombinedOutput(); err != nil {
		t.Errorf("with it, validate is %v, %s", err, output)
	}

	output := newConsole()
	serving := exec.Command(program, "--config", path)
	serving.Stdout, serving.Stderr = output, output
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := serving.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := serving.Wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	}()
	public := regexp.MustCompile(`"listen":"([^"]+)"`).FindStringSubmatch(output.waitFor(t, `"msg":"serving"`))[1]
	for _, test := range []struct {
		name, key string
		status    int
		body      string
	}{
		{"with a key", "4711", 200, "for anybody"},
		{"with a key that is too long", strings.Repeat("4", 65), 400, `"code":"bad_request"`},
		{"without a key", "", 400, `"code":"bad_request"`},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+public+"/order", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Idempotency-Key", test.key)
		if got := do(request); got.status != test.status || !strings.Contains(got.body, test.body) {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// The page shows the very code that the test builds.
func TestTheFilterOfTheDocsIsTheOneThatIsBuilt(t *testing.T) {
	page, err := os.ReadFile("../docs/filters.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, from := range map[string]string{"main.go": "func main()", "idempotencykey.go": "// newIdempotencyKey"} {
		source, err := os.ReadFile("testdata/customfilter/" + file)
		if err != nil {
			t.Fatal(err)
		}
		_, code, found := strings.Cut(string(source), from)
		if !found || !strings.Contains(string(page), from+code) {
			t.Errorf("docs/filters.md doesn't show %s as it is", file)
		}
	}
}

package command

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// A file that parses, but fails one of its cases, changes nothing.
func TestAReloadThatFailsACaseIsRejected(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := func(path string) string {
		return "server: {tests: cases.yaml, listen: \"127.0.0.1:0\", admin: \"127.0.0.1:0\"}\nupstreams: {order: {url: http://127.0.0.1:1, route: {auth: none, path: " + path + "}}}\n"
	}
	write("cases.yaml", "cases:\n- {name: orders are served, request: {url: /order}, expect: {forwarded: true}}\n")
	write("config.yaml", cfg("/order"))
	r := start(t, nil, "serve")
	_, admin := r.addresses(t)
	reload := func() string { return askAdmin(t, http.MethodPost, "http://"+admin+"/api/reload", "", "") }

	write("config.yaml", cfg("/orders"))
	want := `cases.yaml:2:1: case \"orders are served\": forwarded: want true, got 404 no_route`
	if said := reload(); !strings.Contains(said, want) || !strings.Contains(said, `"result":"failure"`) {
		t.Errorf("the reload says %s, want %s", said, want)
	}
	if routes := askAdmin(t, http.MethodGet, "http://"+admin+"/api/routes", "", ""); !strings.Contains(routes, `"path":"/order"`) {
		t.Errorf("the routes are %s", routes)
	}
	if err := os.Remove("cases.yaml"); err != nil {
		t.Fatal(err)
	}
	if said := reload(); !strings.Contains(said, "config.yaml:1:17: server.tests: ") {
		t.Errorf("without the cases the reload says %s", said)
	}
	write("cases.yaml", "cases:\n- {name: orders are served, request: {url: /orders}, expect: {forwarded: true}}\n")
	if said := reload(); !strings.Contains(said, `"result":"success"`) {
		t.Errorf("with cases that hold the reload says %s", said)
	}
	r.interrupt()
	r.end(t)
}

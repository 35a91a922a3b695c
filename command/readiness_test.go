package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A gateway isn't ready before it has asked every backend; then one that is down is named, and that is all.
func TestReadyWhenTheBackendsHaveBeenAsked(t *testing.T) {
	asked, release := make(chan struct{}, 100), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer slow.Close()
	ill := httptest.NewServer(http.NotFoundHandler())
	defer ill.Close()
	r := start(t, nil, "serve", "--config", file(t, "config.yaml", `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
upstreams:
  order: {url: "`+slow.URL+`", health: {path: /well, timeout: 10s}, route: {}}
  user: {url: "`+ill.URL+`", health: {path: /well}, route: {}}
`))
	_, admin := r.addresses(t)
	<-asked
	if got := get(admin, "/readyz"); got.status != 503 || !strings.Contains(got.body, "checked for the first time") {
		t.Errorf("before the first result: %+v", got)
	}
	close(release)
	for get(admin, "/readyz").status != 200 { // each round takes a request's time
	}
	if got := get(admin, "/readyz"); !strings.Contains(got.body, "upstream user has no usable backend") || strings.Contains(got.body, "order") {
		t.Errorf("with one that is down: %+v", got)
	}
	if got := get(admin, "/api/upstreams"); !strings.Contains(got.body, `"healthy":false,"ejected":false,"draining":false`) {
		t.Errorf("it's shown as %s", got.body)
	}
	if got := get(admin, "/metrics"); !strings.Contains(got.body, `gateway_backend_up{backend="`+ill.URL+`",upstream="user"} 0`) {
		t.Error("the metric says otherwise")
	}
	r.interrupt()
	if code := r.end(t); code != fine {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
}

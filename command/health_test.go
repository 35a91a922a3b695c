package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	s := newService(t)
	_, admin := start(t, nil, s.serveFlags()...).addresses(t)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	named := file(t, "config.yaml", "server: {admin: \""+admin+"\"}\n"+minimal)
	tests := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a URL", []string{"--admin", "http://" + admin}, 0, "healthy\n"},
		{"an address", []string{"--admin", admin}, 0, "healthy\n"},
		{"the config's", []string{"--config", named}, 0, "healthy\n"},
		{"nobody is there", []string{"--admin", closed.URL}, 1, "connection refused"},
		{"somebody else is there", []string{"--admin", other.URL}, 1, "answered 404"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"health"}, test.args...)...)
			if code != test.code || !strings.Contains(stdout+stderr, test.says) {
				t.Errorf("got %d %s%s, want %d and %q", code, stdout, stderr, test.code, test.says)
			}
		})
	}
}

func TestDialTarget(t *testing.T) {
	tests := []struct{ admin, network, address string }{
		{"http://127.0.0.1:9090", "tcp", "127.0.0.1:9090"},
		{"http://gateway.internal:9090/", "tcp", "gateway.internal:9090"},
		{"http://gateway.internal", "tcp", "gateway.internal:80"},
		{":9090", "tcp", "127.0.0.1:9090"},
		{"0.0.0.0:9090", "tcp", "127.0.0.1:9090"},
		{"[::]:9090", "tcp", "[::1]:9090"},
		{"[2001:db8::1]:9090", "tcp", "[2001:db8::1]:9090"},
		{"unix:/run/admin.sock", "unix", "/run/admin.sock"},
	}
	for _, test := range tests {
		if network, address := dialTarget(test.admin); network != test.network || address != test.address {
			t.Errorf("%s: got %s %s, want %s %s", test.admin, network, address, test.network, test.address)
		}
	}
}

package admin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A page that an operator happens to look at can make the browser send requests here.
func TestOtherSitesChangeNothing(t *testing.T) {
	tests := []struct {
		name, method, header, value string
		status                      int
		level                       string // afterwards
	}{
		{"a program", "PUT", "", "", 200, "debug"},
		{"the status page", "PUT", "Sec-Fetch-Site", "same-origin", 200, "debug"},
		{"another site", "PUT", "Sec-Fetch-Site", "cross-site", 400, "info"},
		{"another port of this machine", "PUT", "Sec-Fetch-Site", "same-site", 400, "info"},
		{"another site, in an old browser", "PUT", "Origin", "https://evil.example", 400, "info"},
		{"what another site's page shows", "GET", "Sec-Fetch-Site", "cross-site", 400, "info"},
		{"an address that the operator typed", "GET", "Sec-Fetch-Site", "none", 200, "info"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := options()
			server := httptest.NewServer(New(o))
			defer server.Close()
			request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+"/api/log-level", strings.NewReader(`{"level":"debug"}`))
			if err != nil {
				t.Fatal(err)
			}
			if test.header != "" {
				request.Header.Set(test.header, test.value)
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, _ := io.ReadAll(response.Body); response.StatusCode != test.status || o.Log.Level() != test.level {
				t.Errorf("got %d %s, and the level is %s; want %d and %s", response.StatusCode, body, o.Log.Level(), test.status, test.level)
			}
		})
	}
}

package builtin_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
)

func TestRequestHeadersAreSetAndRemovedForTheUpstream(t *testing.T) {
	for _, test := range []struct {
		name    string
		filters []string
		header  []string
		want    http.Header // of the names that begin with X-
	}{
		{"one is set", []string{"set_request_header:X-Tenant=acme"}, nil, http.Header{"X-Tenant": {"acme"}}},
		{"the client's is replaced", []string{"set_request_header:X-Tenant=acme"}, []string{"X-Tenant", "a", "X-Tenant", "b"}, http.Header{"X-Tenant": {"acme"}}},
		{"in every spelling", []string{"set_request_header:X-Tenant=acme"}, []string{"X_Tenant", "a", "X_tenant", "b"}, http.Header{"X-Tenant": {"acme"}}},
		{"one is removed", []string{"remove_request_header:X-Tenant"}, []string{"X-Tenant", "a", "X-Other", "b"}, http.Header{"X-Other": {"b"}}},
		{"in every spelling too", []string{"remove_request_header:x-tenant"}, []string{"X.tenant", "a"}, http.Header{}},
		{"naming it in Connection changes nothing", []string{"set_request_header:X-Tenant=acme"}, []string{"Connection", "X-Tenant"}, http.Header{"X-Tenant": {"acme"}}},
		{"the last one counts", []string{"set_request_header:X-A=1", "set_request_header:X-A=2", "remove_request_header:X-B"}, nil, http.Header{"X-A": {"2"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := http.Header{}
			send(t, serve(t, route{filters: test.filters, upstream: func(_ http.ResponseWriter, r *http.Request) {
				for name, values := range r.Header {
					if name[0] == 'X' {
						got[name] = values
					}
				}
			}}), http.MethodGet, test.header...)
			if !maps.EqualFunc(got, test.want, slices.Equal[[]string]) {
				t.Errorf("the upstream saw %v, want %v", got, test.want)
			}
		})
	}
}

func TestAnswerHeadersAreSetAndRemoved(t *testing.T) {
	server := serve(t, route{
		filters: []string{"set_response_header:X-Frame-Options=DENY", "remove_response_header:X-Powered-By", "set_response_header:Cache-Control=public"},
		upstream: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Powered-By", "Gopher")
			w.Header().Set("X-Frame-Options", "SAMEORIGIN")
			_, _ = io.WriteString(w, "passed")
		},
	})
	h := send(t, server, http.MethodGet).Header
	if !slices.Equal(h["X-Frame-Options"], []string{"DENY"}) || h["X-Powered-By"] != nil || h.Get("Cache-Control") != "public" {
		t.Errorf("the header is %v", h)
	}
}

func TestARefusalKeepsItsOwnHeaders(t *testing.T) {
	server := serve(t, route{filters: []string{
		"set_response_header:Cache-Control=public", "set_response_header:Content-Type=text/html", "set_response_header:X-Frame-Options=DENY", "ip_deny:127.0.0.1",
	}})
	got := send(t, server, http.MethodGet)
	if got.code() != "ip_denied" || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("the answer is %q with %v", got.code(), got.Header)
	}
}

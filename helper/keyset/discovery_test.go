package keyset_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
)

func TestDiscovery(t *testing.T) {
	set := jwks(t, "1")
	for name, row := range map[string]struct {
		tls      bool
		document string
		redirect string
		want     keyset.Result
	}{
		"the document of the issuer":           {false, `{"issuer":"{issuer}","jwks_uri":"{issuer}/keys"}`, "", keyset.Success},
		"over TLS":                             {true, `{"issuer":"{issuer}","jwks_uri":"{issuer}/keys"}`, "", keyset.Success},
		"redirected to the same scheme":        {false, `{"issuer":"{issuer}","jwks_uri":"{issuer}/moved"}`, "{issuer}/keys", keyset.Success},
		"an issuer with a slash more":          {false, `{"issuer":"{issuer}/","jwks_uri":"{issuer}/keys"}`, "", keyset.Failure},
		"another issuer":                       {false, `{"issuer":"https://evil.example","jwks_uri":"{issuer}/keys"}`, "", keyset.Failure},
		"no issuer":                            {false, `{"jwks_uri":"{issuer}/keys"}`, "", keyset.Failure},
		"no jwks_uri":                          {false, `{"issuer":"{issuer}"}`, "", keyset.Failure},
		"a jwks_uri without a host":            {false, `{"issuer":"{issuer}","jwks_uri":"/keys"}`, "", keyset.Failure},
		"a jwks_uri that is a file":            {false, `{"issuer":"{issuer}","jwks_uri":"file://h/etc/passwd"}`, "", keyset.Failure},
		"HTML":                                 {false, `<html>`, "", keyset.Failure},
		"a document over TLS, keys without it": {true, `{"issuer":"{issuer}","jwks_uri":"{plain}/keys"}`, "", keyset.Failure},
		"a redirect from TLS to none":          {true, `{"issuer":"{issuer}","jwks_uri":"{issuer}/moved"}`, "{plain}/keys", keyset.Failure},
	} {
		t.Run(name, func(t *testing.T) {
			plain := httptest.NewServer(says(set))
			defer plain.Close()
			var url string
			fill := func(text string) string {
				return strings.NewReplacer("{issuer}", url, "{plain}", plain.URL).Replace(text)
			}
			mux := http.NewServeMux()
			mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, fill(row.document))
			})
			mux.Handle("/keys", says(set))
			mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, fill(row.redirect), http.StatusFound)
			})
			server := httptest.NewUnstartedServer(mux)
			if row.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			url = server.URL
			r := run(t, keyset.RemoteOptions{Issuer: url, Transport: server.Client().Transport})
			refresh := r.until(t, row.want)
			if row.want == keyset.Success && r.count(t, "1") != 1 {
				t.Errorf("no key; %+v", refresh)
			}
			r.stop()
		})
	}
}

func TestACertificateThatNobodyKnowsIsRefused(t *testing.T) {
	server := httptest.NewTLSServer(says(jwks(t, "1")))
	defer server.Close()
	r := run(t, keyset.RemoteOptions{URL: server.URL})
	if refresh := r.until(t, keyset.Failure); refresh.Err == nil || r.Ready() {
		t.Errorf("refresh %+v", refresh)
	}
}

func TestAKeyThatIsNoGoodLeavesTheRest(t *testing.T) {
	set := jwks(t, "1")
	i := newIssuer(t, says(`{"keys":[{"kty":"EC","use":"enc"},{"kty":"RSA","n":"AQAB","e":"AQAB"},`+set[len(`{"keys":[`):]))
	r := run(t, keyset.RemoteOptions{URL: i.URL})
	refresh := r.until(t, keyset.Success)
	if len(refresh.Skipped) != 2 || refresh.Keys != 1 {
		t.Errorf("refresh %+v", refresh)
	}
}

package demo

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

const issuerURL = "http://127.0.0.1:9003"

// ask sends one request to an identity service.
func ask(t *testing.T, i *Identity, method, target, form string) (int, string) {
	t.Helper()
	request := httptest.NewRequest(method, target, strings.NewReader(form))
	if form != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	i.Handler().ServeHTTP(w, request)
	return w.Code, w.Body.String()
}

// verifier accepts what the service's published keys verify.
func verifier(t *testing.T, i *Identity) *token.Verifier {
	t.Helper()
	_, text := ask(t, i, "GET", "/.well-known/jwks.json", "")
	keys, skipped, err := keyset.ParseJWKS([]byte(text))
	if err != nil || len(skipped) > 0 || len(keys) != 1 {
		t.Fatalf("%s has %d keys, skipped %v: %v", text, len(keys), skipped, err)
	}
	v, err := token.NewVerifier([]token.Provider{{Name: "identity", Issuer: issuerURL, Audiences: []string{"gateway"},
		Algorithms: []string{"ES256"}, Source: keyset.NewSet(keys...)}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTokens(t *testing.T) {
	i, err := NewIdentity(issuerURL)
	if err != nil {
		t.Fatal(err)
	}
	verify := verifier(t, i).Verify
	both := url.Values{"user": {"ada"}, "scope": {"order user"}}.Encode()
	tests := []struct{ name, method, target, form string }{
		{"by GET", "GET", "/token?" + both, ""},
		{"by POST with a form", "POST", "/token", both},
		{"with a lifetime", "GET", "/token?ttl=1m&" + both, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, body := ask(t, i, test.method, test.target, test.form)
			var answer struct {
				Token string `json:"access_token"`
				Type  string `json:"token_type"`
				Scope string `json:"scope"`
				In    int    `json:"expires_in"`
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
				t.Fatalf("got %d %s: %v", status, body, err)
			}
			if answer.Type != "Bearer" || answer.Scope != "order user" || answer.In <= 0 {
				t.Errorf("got %+v", answer)
			}
			caller, err := verify(t.Context(), answer.Token, "")
			if err != nil {
				t.Fatal(err)
			}
			left := time.Until(caller.Expires).Seconds()
			if caller.Subject != "ada" || !caller.Scopes.Has("order") || !caller.Scopes.Has("user") || caller.Claims["email"] != "ada@example.com" ||
				left > float64(answer.In) || left < float64(answer.In)-10 {
				t.Errorf("got %+v", caller)
			}
		})
	}
}

func TestBareTokensForAShell(t *testing.T) {
	i, err := NewIdentity(issuerURL)
	if err != nil {
		t.Fatal(err)
	}
	status, body := ask(t, i, "GET", "/token?user=ada&format=raw", "")
	if _, err := verifier(t, i).Verify(context.Background(), strings.TrimSuffix(body, "\n"), ""); err != nil || status != http.StatusOK {
		t.Errorf("got %d %q: %v", status, body, err)
	}
}

func TestTokenRefuses(t *testing.T) {
	i, err := NewIdentity(issuerURL)
	if err != nil {
		t.Fatal(err)
	}
	for name, query := range map[string]string{"no user": "scope=order", "a lifetime that is none": "user=ada&ttl=soon",
		"one that is too long": "user=ada&ttl=48h"} {
		if status, body := ask(t, i, "GET", "/token?"+query, ""); status != http.StatusBadRequest || !strings.Contains(body, "invalid_request") {
			t.Errorf("%s: got %d %s", name, status, body)
		}
	}
}

func TestExpiredTokensOnDemand(t *testing.T) {
	i, err := NewIdentity(issuerURL)
	if err != nil {
		t.Fatal(err)
	}
	_, body := ask(t, i, "GET", "/token?user=ada&format=raw&ttl=-5m", "")
	_, err = verifier(t, i).Verify(t.Context(), strings.TrimSpace(body), "")
	if refused := new(token.Error); !errors.As(err, &refused) || refused.Reason != token.Expired {
		t.Errorf("got %v, want Expired", err)
	}
}

func TestDiscoveryNamesWhatIsServed(t *testing.T) {
	i, err := NewIdentity(issuerURL)
	if err != nil {
		t.Fatal(err)
	}
	_, body := ask(t, i, "GET", "/.well-known/openid-configuration", "")
	var document map[string]any
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	if document["issuer"] != issuerURL {
		t.Errorf("the issuer is %v", document["issuer"])
	}
	for _, name := range []string{"jwks_uri", "token_endpoint"} {
		address, ok := document[name].(string)
		path, own := strings.CutPrefix(address, issuerURL)
		if status, _ := ask(t, i, "GET", path+"?user=ada", ""); !ok || !own || status != http.StatusOK {
			t.Errorf("%s is %q, which answers %d", name, address, status)
		}
	}
}

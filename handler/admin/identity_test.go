package admin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"gatehouse/handler/admin"
	"gatehouse/helper/assertion"
	"gatehouse/helper/identity"
	"gatehouse/helper/revocation"
)

func TestRevocationsAndPublishedKeys(t *testing.T) {
	keys, err := assertion.NewKeyring()
	if err != nil {
		t.Fatal(err)
	}
	list := &revocation.List{}
	list.SetFile("revoked.txt", []revocation.Name{{Kind: revocation.Subject, Value: "bob"}})
	server := httptest.NewServer(admin.New(admin.Options{
		Token: "secret", Metrics: http.NotFoundHandler(), Identity: admin.Identity{AssertionKeys: keys.JWKS, Revoked: list},
	}))
	defer server.Close()
	until := regexp.MustCompile(`"until":"[^"]+"`)
	ask := func(method, path, body, token string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, until.ReplaceAllString(string(text), `"until":"then"`)
	}
	const path, bob = "/api/revocations", `{"entry":"sub:bob","from":"file"}`
	for _, step := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"what stands in the file", "GET", path, "", 200, "[" + bob + "]\n"},
		{"one is added", "POST", path, `{"entry":"jti:x","for":"1h"}`, 200, `{"entry":"jti:x","from":"api","until":"then"}` + "\n"},
		{"both are listed", "GET", path, "", 200, `[{"entry":"jti:x","from":"api","until":"then"},` + bob + "]\n"},
		{"no kind", "POST", path, `{"entry":"x","for":"1h"}`, 400, "bad_request"},
		{"no time", "POST", path, `{"entry":"jti:y"}`, 400, "bad_request"},
		{"a time that is past", "POST", path, `{"entry":"jti:y","for":"-1h"}`, 400, "bad_request"},
		{"a time without end", "POST", path, `{"entry":"jti:y","for":"1000000h"}`, 400, "bad_request"},
		{"an unknown key", "POST", path, `{"entry":"jti:y","for":"1h","why":"x"}`, 400, "bad_request"},
		{"not JSON", "POST", path, `jti:y`, 400, "bad_request"},
		{"it is removed", "DELETE", path + "?entry=jti:x", "", 200, "ok"},
		{"only once", "DELETE", path + "?entry=jti:x", "", 400, "bad_request"},
		{"one of the file isn't", "DELETE", path + "?entry=sub:bob", "", 400, "bad_request"},
		{"nothing named", "DELETE", path, "", 400, "bad_request"},
		{"only the file's is left", "GET", path, "", 200, "[" + bob + "]\n"},
	} {
		t.Run(step.name, func(t *testing.T) {
			if status, body := ask(step.method, step.path, step.body, "secret"); status != step.status || !strings.Contains(body, step.want) {
				t.Errorf("got %d %s, want %d %s", status, body, step.status, step.want)
			}
			if status, _ := ask(step.method, step.path, step.body, ""); status != 401 {
				t.Errorf("without the token: %d", status)
			}
		})
	}
	_, isBob := list.Match(&identity.Principal{Subject: "bob"})
	if _, x := list.Match(&identity.Principal{TokenID: "x"}); !isBob || x {
		t.Error("the list isn't what was shown")
	}
	if status, body := ask("GET", "/.well-known/jwks.json", "", ""); status != 200 || !strings.Contains(body, `"crv":"Ed25519"`) || strings.Contains(body, `"d"`) {
		t.Errorf("published keys, without a token: %d %s", status, body)
	}
}

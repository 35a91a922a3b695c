package assertion_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"gatehouse/helper/assertion"
)

// caller returns who the gateway says that a request is from.
func caller(r *http.Request, keys jose.JSONWebKeySet) (who jwt.Claims, err error) {
	token, err := jwt.ParseSigned(r.Header.Get("X-Gateway-Assertion"), []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return who, err
	}
	if err := token.Claims(keys, &who); err != nil { // finds the key by its kid, and checks the signature
		return who, err
	}
	return who, who.Validate(jwt.Expected{Issuer: "gatehouse", AnyAudience: jwt.Audience{"order"}, Time: time.Now()})
}

// The example of docs/services.md is the function above, and it works.
func TestAServiceVerifiesTheAssertion(t *testing.T) {
	page, err := os.ReadFile("../../docs/services.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("service_test.go")
	if err != nil {
		t.Fatal(err)
	}
	example := string(source[strings.Index(string(source), "// caller returns"):strings.Index(string(source), "\n// The example of")])
	if !strings.Contains(string(page), "```go\n"+example+"```\n") {
		t.Errorf("docs/services.md has another example than\n%s", example)
	}
	if lines := strings.Count(example, "\n"); lines > 15 {
		t.Errorf("it has %d lines", lines)
	}

	own := keyring(t)
	minter := assertion.NewMinter(own, assertion.Options{TTL: 30 * time.Second})
	published, err := json.Marshal(own.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal(published, &keys); err != nil {
		t.Fatal(err)
	}
	ask := func(text string) (string, error) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Gateway-Assertion", text)
		who, err := caller(r, keys)
		return who.Subject, err
	}
	good := assert(t, minter.Target("order", "orders"), ada(), "")
	if who, err := ask(good); err != nil || who != "ada" {
		t.Errorf("a good one: %q, %v", who, err)
	}
	stranger := assertion.NewMinter(keyring(t), assertion.Options{TTL: 30 * time.Second})
	for name, text := range map[string]string{
		"none":                        "",
		"one for another service":     assert(t, minter.Target("user", "users"), ada(), ""),
		"one of somebody else's keys": assert(t, stranger.Target("order", "orders"), ada(), ""),
		"one that was changed":        good[:len(good)-4] + "AAAA",
		"one without a signature":     good[:strings.LastIndex(good, ".")+1],
	} {
		if who, err := ask(text); err == nil {
			t.Errorf("%s is believed to be of %q", name, who)
		}
	}
}

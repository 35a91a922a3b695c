package gateway_test

import (
	"strings"
	"testing"
)

// credentialConfig knows ada by the API key "key of ada", bob by one that has expired, and tokens in several places.
const credentialConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET, token_from: [header, "cookie:session", "query:access_token"]}
    strict: {issuer: strict, algorithms: [HS256], secret: SECRET}
  api_keys:
    keys:
      - {id: ada, sha256: f0a3ac4fd2e9fbfc8a5ccf6f4f6e9bd6c1b3a7b0a8a1f0a0d9b7d1c6a3f1e2d4, scopes: [order]}
      - {id: bob, sha256: 0bad000000000000000000000000000000000000000000000000000000000bad, scopes: [order], expires: 2020-01-01}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 0}}
routes:
  - {path: /jwt, upstream: app, scopes: []}
  - {path: /key, upstream: app, auth: api_key, scopes: [order]}
  - {path: /any, upstream: app, auth: any, scopes: []}
  - {path: /more, upstream: app, auth: api_key, scopes: [admin]}
  - {path: /open, upstream: app, auth: none}
`

func credentialStand(t *testing.T) (*stand, *rawBackend) {
	backend := newRawBackend(t, says(okAnswer))
	yaml := strings.NewReplacer(
		"f0a3ac4fd2e9fbfc8a5ccf6f4f6e9bd6c1b3a7b0a8a1f0a0d9b7d1c6a3f1e2d4", sha256Hex("key of ada"),
		"0bad000000000000000000000000000000000000000000000000000000000bad", sha256Hex("key of bob")).Replace(credentialConfig)
	return start(t, backend.Addr().String(), yaml), backend
}

func TestWhichCredentialCounts(t *testing.T) {
	s, _ := credentialStand(t)
	good := strings.TrimPrefix(bearer(t, map[string]any{"sub": "eve"}), "Authorization: Bearer ")
	strict := strings.TrimPrefix(bearer(t, map[string]any{"iss": "strict"}), "Authorization: Bearer ")
	const key = "X-API-Key: key of ada"
	for name, row := range map[string]struct {
		path    string
		headers []string
		code    string // "" is 200
	}{
		"a token in the header":                    {"/jwt", []string{"Authorization: bearer " + good}, ""},
		"a token in a cookie":                      {"/jwt", []string{"Cookie: a=1; session=" + good}, ""},
		"a token in the query":                     {"/jwt?x=1&access_token=" + good, nil, ""},
		"a good header before a bad cookie":        {"/jwt", []string{"Authorization: Bearer " + good, "Cookie: session=bad"}, ""},
		"a bad header before a good cookie":        {"/jwt", []string{"Authorization: Bearer bad", "Cookie: session=" + good}, "token_invalid"},
		"another scheme, and a good cookie":        {"/jwt", []string{"Authorization: Basic YTpi", "Cookie: session=" + good}, ""},
		"a cookie twice":                           {"/jwt", []string{"Cookie: session=" + good + "; session=" + good}, "bad_request"},
		"a parameter twice behind a good header":   {"/jwt?access_token=a&access_token=b", []string{"Authorization: Bearer " + good}, "bad_request"},
		"another provider's token in the header":   {"/jwt", []string{"Authorization: Bearer " + strict}, ""},
		"another provider's token in a cookie":     {"/jwt", []string{"Cookie: session=" + strict}, "token_invalid"},
		"a token that doesn't look like one":       {"/jwt?access_token=a%20b", nil, "token_invalid"},
		"an API key where tokens are wanted":       {"/jwt", []string{key}, "credentials_missing"},
		"an API key":                               {"/key", []string{key}, ""},
		"an API key in other letters":              {"/key", []string{"x-api-KEY: key of ada"}, ""},
		"an API key under another spelling":        {"/key", []string{"X_API_Key: key of ada"}, "credentials_missing"},
		"an API key that isn't known":              {"/key", []string{"X-API-Key: nobody's"}, "api_key_invalid"},
		"an API key that has expired":              {"/key", []string{"X-API-Key: key of bob"}, "api_key_invalid"},
		"an empty API key":                         {"/key", []string{"X-API-Key: "}, "api_key_invalid"},
		"two API keys":                             {"/key", []string{key, key}, "bad_request"},
		"a token where an API key is wanted":       {"/key", []string{"Authorization: Bearer " + good}, "credentials_missing"},
		"an API key without the scope":             {"/more", []string{key}, "scope_missing"},
		"either: the token":                        {"/any", []string{"Authorization: Bearer " + good}, ""},
		"either: the API key":                      {"/any", []string{key}, ""},
		"either: both, and the token decides":      {"/any", []string{"Authorization: Bearer bad", key}, "token_invalid"},
		"either: an API key beside another scheme": {"/any", []string{"Authorization: Basic YTpi", key}, ""},
		"either: none":                             {"/any", nil, "credentials_missing"},
		"either: an API key that isn't known":      {"/any", []string{"X-API-Key: x"}, "api_key_invalid"},
		"an open route asks nobody":                {"/open?access_token=a&access_token=b", []string{"X-API-Key: x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.get(row.path, row.headers...)
			if got.code() != row.code || row.code == "" && got.StatusCode != 200 {
				t.Errorf("got %d %s, want %q", got.StatusCode, got.body, row.code)
			}
			if challenge := got.Header.Get("WWW-Authenticate"); (got.StatusCode == 401) != (challenge != "") && row.code != "scope_missing" {
				t.Errorf("WWW-Authenticate: %q with %d", challenge, got.StatusCode)
			}
		})
	}
	if got := s.get("/any").Header.Get("WWW-Authenticate"); got != `Bearer realm="gatehouse", APIKey realm="gatehouse"` {
		t.Errorf("what would do: %s", got)
	}
}

func TestWhatTheGatewayConsumedIsntForwarded(t *testing.T) {
	s, backend := credentialStand(t)
	good := strings.TrimPrefix(bearer(t, map[string]any{"sub": "eve"}), "Authorization: Bearer ")
	for name, row := range map[string]struct {
		path    string
		headers []string
		target  string // what the backend saw
		cookies string
	}{
		"a cookie among others":          {"/jwt", []string{"Cookie: a=1; session=" + good + "; b=\"2\""}, "/jwt", `a=1; b="2"`},
		"the only cookie":                {"/jwt", []string{"Cookie: session=" + good}, "/jwt", ""},
		"a parameter among others":       {"/jwt?x=%7e+1&access_token=" + good + "&&y", nil, "/jwt?x=%7e+1&&y", ""},
		"a parameter in escapes":         {"/jwt?%61ccess_token=" + good + "&z", nil, "/jwt?z", ""},
		"one that didn't count":          {"/jwt?access_token=x", []string{"Authorization: Bearer " + good, "Cookie: session=y"}, "/jwt", ""},
		"on an open route as well":       {"/open?access_token=a&access_token=b&c", []string{"Cookie: session=a", "X-API-Key: x"}, "/open?c", ""},
		"an API key in its own spelling": {"/key", []string{"X-API-Key: key of ada"}, "/key", ""},
		"an API key in other spellings":  {"/key", []string{"X-API-Key: key of ada", "X_API_KEY: a", "X.Api-Key: b"}, "/key", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.get(row.path, row.headers...); got.StatusCode != 200 {
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
			head := backend.last(t)
			if !strings.HasPrefix(head, "GET "+row.target+" HTTP/1.1\r\n") {
				t.Errorf("the backend saw %s", head)
			}
			if got := strings.Join(headerLines(head, "Cookie"), "|"); got != row.cookies {
				t.Errorf("cookies %q, want %q", got, row.cookies)
			}
			if lower := strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(head)); strings.Contains(lower, "x-api-key") {
				t.Errorf("the API key went upstream: %s", head)
			}
		})
	}
	s.get("/key", "X-API-Key: key of ada", "X-User-Id: root")
	if head := backend.last(t); strings.Join(headerLines(head, "X-User-Id"), "|") != "ada" || strings.Join(headerLines(head, "X-User-Scopes"), "|") != "order" {
		t.Errorf("the upstream was told %s", head)
	}
	if lines := s.lines(); lines[len(lines)-1]["client"] != "ada" {
		t.Errorf("log line %v", lines[len(lines)-1])
	}
	if s.counts.get("auth _api_key ok none") == 0 || s.counts.get("auth p ok hit") == 0 || s.counts.get("auth p ok miss") == 0 {
		t.Errorf("counts: %v", s.counts)
	}
}

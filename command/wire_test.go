package command

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"gatehouse/helper/config"
	"gatehouse/logger"
)

// A token that a provider looks for in the query doesn't get into the log, whatever the parameter is called.
func TestTokensInTheQueryAreMasked(t *testing.T) {
	cfg, err := config.Parse("c.yaml", []byte(minimal+`
auth: {providers: {a: {issuer: a, algorithms: [HS256], secret: "0123456789abcdef0123456789abcdef", token_from: [header, "query:Ticket"]}}}
`), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	log, err := logger.New(logger.Options{Writer: &out})
	if err != nil {
		t.Fatal(err)
	}
	accessLog(log)(cfg).Log(&logger.Entry{Query: "x=1&Ticket=secret.token&%54icket=another&access_token=third"})
	if err := log.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "x=1&Ticket=***") || strings.Contains(text, "secret") || strings.Contains(text, "another") || strings.Contains(text, "third") {
		t.Errorf("logged %s", text)
	}
}

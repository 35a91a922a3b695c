package gateway_test

import (
	"slices"
	"strings"
	"testing"

	"gatehouse/handler/gateway"
	"gatehouse/helper/explain"
)

// Whatever is asked, the report is consistent, and its text is safe for a terminal.
func FuzzExplain(f *testing.F) {
	for _, seed := range [][3]string{{"GET", "/order/42", ""}, {"POST", "https://api.test:80/order?a=b#c", "X-Canary"}, {"OPTIONS", "*", "Origin"}, {"GET", "//order", "Connection"},
		{"TRACE", "/%2e%2e/", "Authorization"}, {"GET", "http://a@b/", "Cookie"}, {"", "/order;v=1", "Content-Length"}, {"GET", "http://[::1]/", "Upgrade"}} {
		f.Add(seed[0], seed[1], seed[2], "true")
	}
	s := compiled(f, nil, strings.NewReplacer("BACKEND", "http://order.invalid", "SECRET", secret).Replace(explained))
	f.Fuzz(func(t *testing.T, method, url, name, value string) {
		report, err := s.Explain(gateway.Query{Method: method, URL: url, Headers: map[string]string{name: value}, Claims: map[string]any{"sub": value, "scope": "order"}})
		if err != nil {
			return
		}
		a := report.Answer
		if a.Forwarded != (report.Forward != nil) || a.Forwarded && (a.Status != 0 || a.Code != "") || !a.Forwarded && a.Status < 200 {
			t.Errorf("the answer is %+v", a)
		}
		if text := report.String(); strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), func(r rune) bool { return r < ' ' }) {
			t.Errorf("the text is %q", text)
		}
		won := slices.ContainsFunc(report.Candidates, func(c explain.Candidate) bool { return c.Wins })
		if won != (report.Route != "") {
			t.Errorf("of %+v %q wins", report.Candidates, report.Route)
		}
	})
}

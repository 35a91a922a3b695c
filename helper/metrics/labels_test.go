package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWhatClientsInventMakesNoSeries(t *testing.T) { // M-01
	m := newMetrics()
	route := m.Route("order", "orders")
	ask := func(i int) {
		route.Observe(fmt.Sprint("BREW", i), 600+i, time.Millisecond, 0, "")
		route.Rejected(fmt.Sprint("code", i))
		route.Shadowed(fmt.Sprint("code", i))
		m.Unmatched().Observe("GET", 404, time.Millisecond, 0, "")
		m.Auth(fmt.Sprint("provider", i), fmt.Sprint("result", i), fmt.Sprint("cache", i))
	}
	ask(0)
	before := strings.Count(series(t, m), "\n")
	for i := range 10_000 {
		ask(i)
	}
	if after := strings.Count(series(t, m), "\n"); after != before {
		t.Errorf("10,000 requests made %d series out of %d", after, before)
	}
}

func TestLabelValuesThatArentUTF8AreMendedAndTheScrapeIsServed(t *testing.T) { // M-03
	const bad, good = "a\xffb", "a\uFFFDb"
	m := newMetrics()
	m.ConfigLoaded(bad, time.Now())
	m.Provider(bad)
	m.Auth(bad, "ok", "hit")
	m.Upstream(bad, func() int { return 0 }).Transition(1)
	m.Backend(bad, bad, func() int64 { return 0 }, func() bool { return true }).Observe(time.Second)
	route := m.Route(bad, bad)
	route.Rejected(bad)
	route.Observe(bad, 200, time.Second, 0, bad)
	route.Observe(bad, 200, time.Minute, 0, strings.Repeat("a", 1000))
	got := series(t, m)
	for _, want := range []string{
		`gateway_requests_total{operation="accept",upstream="` + good + `",uri="` + good + `"} 0`,
		`gateway_breaker_state{upstream="` + good + `"} 0`,
		`gateway_backend_up{backend="` + good + `",upstream="` + good + `"} 1`,
		`gateway_config_info{hash="` + good + `"} 1`,
		`http_requests_total{code="200",method="OTHER",upstream="` + good + `",uri="` + good + `"} 2`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
}

func TestRequestsAreCountedByMethodAndStatus(t *testing.T) {
	for _, row := range []struct {
		name, method string
		status       int
		want         string
	}{
		{"a standard method keeps its name", "PATCH", 200, `code="200",method="PATCH"`},
		{"a lower-case method is another method", "get", 200, `code="200",method="OTHER"`},
		{"an invented method is OTHER", "BREW", 200, `code="200",method="OTHER"`},
		{"a client that went away is a 499", "GET", 499, `code="499",method="GET"`},
		{"a status outside HTTP's classes is OTHER", "GET", 777, `code="OTHER",method="GET"`},
		{"no status at all is OTHER", "GET", 0, `code="OTHER",method="GET"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMetrics()
			m.Route("order", "orders").Observe(row.method, row.status, time.Millisecond, 0, "")
			if want := "http_requests_total{" + row.want + `,upstream="order",uri="orders"} 1`; !strings.Contains(series(t, m), want) {
				t.Errorf("no %s in:\n%s", want, series(t, m))
			}
		})
	}
}

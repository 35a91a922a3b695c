package metrics_test

import (
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"gatehouse/helper/metrics"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

func newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Options{
		Buckets: []float64{0.01, 0.1, 1}, NativeHistograms: true, Version: "1.2.3", GoVersion: "go1.26",
		Codes:      []string{"rate_limited", "no_route", "breaker_open"},
		LogDropped: func() uint64 { return 4 },
	})
}

// scrape is what a scraper that accepts the given type is served.
func scrape(t *testing.T, m *metrics.Metrics, accept string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics: %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// series is a text scrape without the comments and without Go's and the process's own series.
func series(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^(#.*|(go|process)_.*)\n`).ReplaceAllString(scrape(t, m, "text/plain"), "")
}

// tell lets two requests go well, one be limited, one be refused by the breaker, one be given up by its client and one
// match nothing.
func tell(m *metrics.Metrics) {
	m.ConfigLoaded("abc", time.Unix(1_700_000_000, 0))
	m.ConfigReload(metrics.ReloadUnchanged)
	m.ConfigReload(metrics.ReloadFailure)
	m.Provider("identity")
	upstream := m.Upstream("order", func() int { return 2 })
	backend := m.Backend("order", "http://order:8080", func() int64 { return 3 }, func() bool { return true })
	route := m.Route("order", "orders")

	for range 2 {
		route.Accept()
		m.Auth("identity", "ok", "hit")
		backend.Observe(40 * time.Millisecond)
		route.Observe("GET", 200, 50*time.Millisecond, 10*time.Microsecond, "4bf92f3577b34da6a3ce929d0e0e4736")
	}
	route.Reject()
	route.Rejected("rate_limited")
	route.Observe("POST", 429, time.Millisecond, time.Millisecond, "")
	route.Shadowed("rate_limited")
	upstream.Transition(2)
	upstream.Refused()
	route.Rejected("breaker_open")
	route.Observe("BREW", 503, time.Millisecond, time.Millisecond, "")
	route.Observe("GET", 499, 2*time.Second, time.Millisecond, "")
	m.Unmatched().Rejected("no_route")
	m.Unmatched().Observe("GET", 404, time.Millisecond, time.Millisecond, "")
	m.InflightAdd(2)
	m.InflightAdd(-1)
	m.Retiring(2)
	m.Retiring(-1)
	m.Panic()
	m.Spoof()
	m.Clients([]string{"ada", "bob"})
	m.QuotaRejected("ada")
	m.QuotaRejected("somebody")
	m.Clients([]string{"ada", "eve"})
	m.QuotaRejected("bob")
	m.LimiterMode(true)
	m.RedisCall(700*time.Microsecond, nil)
	m.RedisCall(20*time.Millisecond, errors.New("no answer"))
}

func TestScrapeAfterAKnownStoryIsTheGoldenFile(t *testing.T) {
	m := newMetrics()
	tell(m)
	got := series(t, m)
	const file = "testdata/story.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("/metrics differs from %s (go test -update writes it anew):\n%s", file, got)
	}
}

func TestNamesAndHelpPassPrometheusOwnLint(t *testing.T) {
	m := newMetrics()
	tell(m)
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestOpenMetricsKeepsTheNamesAndShowsTheTraceAsExemplar(t *testing.T) {
	m := newMetrics()
	tell(m)
	got := scrape(t, m, "application/openmetrics-text; version=1.0.0")
	for _, want := range []string{
		`circuit_breaker_open{upstream="order"} 1`,
		`le="0.1"} 4 # {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"} 0.05`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the OpenMetrics scrape lacks %s:\n%s", want, got)
		}
	}
}

func TestReloadResultsSayWhetherTheLastOneWasGood(t *testing.T) {
	for _, row := range []struct {
		name    string
		results []string
		want    string
	}{
		{"a rejected file fails", []string{metrics.ReloadSuccess, metrics.ReloadFailure}, "0"},
		{"the running file put back is fine again", []string{metrics.ReloadFailure, metrics.ReloadUnchanged}, "1"},
		{"a better file is fine again", []string{metrics.ReloadFailure, metrics.ReloadSuccess}, "1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMetrics()
			m.ConfigLoaded("abc", time.Now())
			for _, result := range row.results {
				m.ConfigReload(result)
			}
			if want := "gateway_config_last_reload_successful " + row.want; !strings.Contains(series(t, m), want) {
				t.Errorf("no %q in:\n%s", want, series(t, m))
			}
		})
	}
}

func TestOnlyTheRunningConfigHasAnInfo(t *testing.T) {
	m := newMetrics()
	m.ConfigLoaded("old", time.Now())
	m.ConfigLoaded("new", time.Now())
	if got := series(t, m); strings.Contains(got, `hash="old"`) || !strings.Contains(got, `gateway_config_info{hash="new"} 1`) {
		t.Error(got)
	}
}

func TestNativeHistogramsAreThereWhenAskedFor(t *testing.T) {
	for _, native := range []bool{true, false} {
		m := metrics.New(metrics.Options{NativeHistograms: native})
		families, err := m.Gatherer().Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if h := family.GetMetric()[0].GetHistogram(); family.GetName() == "http_request_duration_seconds" && (h.Schema != nil) != native {
				t.Errorf("native %v: %v", native, h)
			}
		}
	}
}

package metrics_test

import (
	"strings"
	"testing"
)

func TestRetriesMirrorsAndEjectionsAreCounted(t *testing.T) {
	m, up := newMetrics(), true
	backend := m.Backend("order", "http://order:8080", func() int64 { return 0 }, func() bool { return up })
	retries, other := m.Retries("order", []string{"connect", "503"}), m.Retries("order", []string{"connect", "503"})
	mirror := m.Mirror("orders")
	for _, want := range []string{
		`gateway_retries_total{reason="503",upstream="order"} 0`,
		`gateway_retry_budget_exhausted_total{upstream="order"} 0`,
		`gateway_mirror_results_total{result="different",uri="orders"} 0`,
		`gateway_backend_ejections_total{backend="http://order:8080",upstream="order"} 0`,
		`gateway_backend_up{backend="http://order:8080",upstream="order"} 1`,
	} {
		if !strings.Contains(series(t, m), want+"\n") {
			t.Errorf("from the start there is no %s", want)
		}
	}
	up = false
	backend.Ejected()
	retries.Retried("503")
	other.Retried("503")
	retries.Retried("an invented one")
	retries.BudgetExhausted()
	mirror.Mirrored("different")
	mirror.Mirrored("an invented one")
	got := series(t, m)
	for _, want := range []string{
		`gateway_retries_total{reason="503",upstream="order"} 2`,
		`gateway_retry_budget_exhausted_total{upstream="order"} 1`,
		`gateway_mirror_results_total{result="different",uri="orders"} 1`,
		`gateway_backend_ejections_total{backend="http://order:8080",upstream="order"} 1`,
		`gateway_backend_up{backend="http://order:8080",upstream="order"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
	retries.Remove()
	if !strings.Contains(series(t, m), "gateway_retries_total{") {
		t.Error("the series went with the first of two handles")
	}
	other.Remove()
	mirror.Remove()
	backend.Remove()
	if got := series(t, m); strings.Contains(got, "invented") || strings.Contains(got, `"order"`) || strings.Contains(got, `"orders"`) {
		t.Errorf("something is left:\n%s", got)
	}
}

package grafana_test

import (
	"slices"
	"strings"
	"testing"

	"gatehouse/grafana"
)

func TestQueriesFindsPanelsRowsAndVariables(t *testing.T) {
	got, err := grafana.Queries([]byte(`{
		"templating": {"list": [
			{"type": "datasource", "name": "datasource"},
			{"type": "query", "name": "uri", "definition": "label_values(a_total{u=~\"$u\"}, uri)"}]},
		"panels": [
			{"type": "row", "title": "Row", "panels": [{"title": "In a row", "targets": [{"expr": "b[$__range]"}]}]},
			{"title": "Rate", "targets": [{"expr": "rate(c{u=~\"${u}\"}[$__rate_interval])", "legendFormat": "{{u}}"}]}]}`))
	want := []grafana.Query{
		{Where: "$uri", Expr: `count by (uri) (a_total{u=~".*"})`},
		{Where: "In a row", Expr: `b[5m]`},
		{Where: "Rate", Expr: `rate(c{u=~".*"}[1m])`, Legend: "{{u}}"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestQueriesRefusesWhatItCantRead(t *testing.T) {
	for _, row := range []struct{ name, dashboard, want string }{
		{"no JSON", `{`, "decoding dashboard"},
		{"a variable that isn't a label's values", `{"templating":{"list":[{"type":"query","name":"x","definition":"metrics(.*)"}]}}`, "variable x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := grafana.Queries([]byte(row.dashboard)); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

package grafana_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/grafana"
	"gatehouse/helper/metrics"
)

// exported is every series that a scrape of the gateway brings, with its labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	m := metrics.New(metrics.Options{Codes: []string{"rate_limited"}, LogDropped: func() uint64 { return 0 }})
	m.ConfigLoaded("hash", time.Now())
	m.Provider("identity")
	m.Keys("identity", func() time.Duration { return time.Minute })
	m.Upstream("order", func() int { return 0 })
	m.Backend("order", "http://order", func() int64 { return 0 }, func() bool { return true })
	m.Retries("order", []string{"connect"})
	m.Mirror("orders")
	m.Route("order", "orders").Observe("GET", 200, time.Millisecond, 0, "")
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	target := []string{"instance", "job"} // what Prometheus adds
	series := map[string][]string{"up": target}
	for _, family := range families {
		labels := slices.Clone(target)
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		name := family.GetName()
		switch family.GetType().String() {
		case "HISTOGRAM":
			series[name+"_bucket"] = append(slices.Clone(labels), "le")
		case "SUMMARY":
			series[name] = append(slices.Clone(labels), "quantile")
		default:
			series[name] = labels
			continue
		}
		series[name+"_sum"], series[name+"_count"] = labels, labels
	}
	return series
}

// unknown says what an expression, or a text around it, names that isn't exported.
func unknown(e expression, used []string, series map[string][]string) (problems []string) {
	var all []string
	for name, labels := range e.series {
		known, ok := series[name]
		if !ok {
			problems = append(problems, "no series "+name)
		}
		all = append(all, known...)
		for _, label := range labels {
			if !slices.Contains(known, label) {
				problems = append(problems, fmt.Sprintf("%s has no label %s", name, label))
			}
		}
	}
	for _, label := range append(used, e.grouping...) {
		if !slices.Contains(all, label) {
			problems = append(problems, "no series has the label "+label)
		}
	}
	return problems
}

var (
	legendLabel     = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
	annotationLabel = regexp.MustCompile(`\$labels\.(\w+)`)
)

func labelsIn(text string, pattern *regexp.Regexp) (labels []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		labels = append(labels, m[1])
	}
	return labels
}

func TestDashboardsUseOnlyWhatTheGatewayExports(t *testing.T) {
	series := exported(t)
	for _, file := range dashboards(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		queries, err := grafana.Queries(raw)
		if err != nil || len(queries) == 0 {
			t.Fatalf("%s: %d queries, %v", file, len(queries), err)
		}
		for _, q := range queries {
			for _, problem := range unknown(read(q.Expr), labelsIn(q.Legend, legendLabel), series) {
				t.Errorf("%s: %s: %s: %s", file, q.Where, problem, q.Expr)
			}
		}
	}
}

type ruleFile struct {
	Groups []struct {
		Rules []struct {
			Record, Alert, Expr string
			Labels, Annotations map[string]string
		}
	}
}

func TestRulesUseOnlyWhatTheGatewayExportsAndSayWhatToDo(t *testing.T) {
	series := exported(t)
	runbook, err := os.ReadFile("../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("alerts/*.rules.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	for _, file := range files {
		var rules ruleFile
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(raw, &rules); err != nil {
			t.Fatal(err)
		}
		for _, group := range rules.Groups {
			for _, rule := range group.Rules {
				e := read(rule.Expr)
				text := strings.Join(slices.Collect(maps.Values(rule.Annotations)), " ")
				for _, problem := range unknown(e, labelsIn(text, annotationLabel), series) {
					t.Errorf("%s: %s%s: %s", file, rule.Record, rule.Alert, problem)
				}
				if rule.Record != "" {
					series[rule.Record] = e.grouping
					continue
				}
				for _, key := range []string{"summary", "description", "runbook"} {
					if rule.Annotations[key] == "" {
						t.Errorf("%s: %s has no %s", file, rule.Alert, key)
					}
				}
				if !strings.Contains(string(runbook), "\n## "+rule.Alert+"\n") || !strings.Contains(rule.Annotations["runbook"], "docs/alerts.md#"+strings.ToLower(rule.Alert)) {
					t.Errorf("docs/alerts.md has no section for %s, or its runbook doesn't name it", rule.Alert)
				}
			}
		}
	}
}

func TestWhatIsntExportedIsFound(t *testing.T) {
	series := exported(t)
	for _, row := range []struct{ name, expr, legend string }{
		{"a series", `rate(http_request_total[1m])`, ""},
		{"a label in a selector", `http_requests_total{status="200"}`, ""},
		{"a label to group by", `sum by (route) (http_requests_total)`, ""},
		{"a label in the legend", `http_requests_total`, "{{ route }}"},
		{"a histogram without its suffix", `http_request_duration_seconds{le="1"}`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if len(unknown(read(row.expr), labelsIn(row.legend, legendLabel), series)) == 0 {
				t.Errorf("%s %s passes", row.expr, row.legend)
			}
		})
	}
}

package grafana

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Query is one expression of a dashboard.
type Query struct {
	Where  string // the panel's title, or the variable's name
	Expr   string // PromQL, with Grafana's variables replaced
	Legend string // the format of the legend, such as {{upstream}}
}

// Queries gives every query of a dashboard. Variables match everything, and intervals are those of a short range.
func Queries(dashboard []byte) ([]Query, error) {
	var d struct {
		Panels     []panel `json:"panels"`
		Templating struct {
			List []struct {
				Name       string `json:"name"`
				Type       string `json:"type"`
				Definition string `json:"definition"`
			} `json:"list"`
		} `json:"templating"`
	}
	if err := json.Unmarshal(dashboard, &d); err != nil {
		return nil, fmt.Errorf("decoding dashboard: %w", err)
	}
	var queries []Query
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		m := labelValues.FindStringSubmatch(v.Definition)
		if m == nil {
			return nil, fmt.Errorf("variable %s: %q is not label_values(series, label)", v.Name, v.Definition)
		}
		queries = append(queries, Query{Where: "$" + v.Name, Expr: replace(fmt.Sprintf("count by (%s) (%s)", m[2], m[1]))})
	}
	return append(queries, panelQueries(d.Panels)...), nil
}

type panel struct {
	Title   string  `json:"title"`
	Panels  []panel `json:"panels"` // a collapsed row's
	Targets []struct {
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
}

func panelQueries(panels []panel) (queries []Query) {
	for _, p := range panels {
		for _, t := range p.Targets {
			queries = append(queries, Query{Where: p.Title, Expr: replace(t.Expr), Legend: t.LegendFormat})
		}
		queries = append(queries, panelQueries(p.Panels)...)
	}
	return queries
}

var (
	labelValues = regexp.MustCompile(`^label_values\((.+),\s*(\w+)\)$`)
	variable    = regexp.MustCompile(`\$\w+|\$\{\w+\}`)
	intervals   = strings.NewReplacer("$__rate_interval", "1m", "$__interval", "15s", "$__range", "5m")
)

func replace(expr string) string { return variable.ReplaceAllString(intervals.Replace(expr), ".*") }

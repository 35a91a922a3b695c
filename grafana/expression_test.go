package grafana_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// expression is what an expression reads: series with the labels that it selects them by, and the labels that it
// groups by.
type expression struct {
	series   map[string][]string
	grouping []string
}

// token is a string, a duration in brackets, a number, a name, or one other character.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]|[0-9][0-9a-zA-Z.]*|[a-zA-Z_:][a-zA-Z0-9_:]*|\S`)

// read finds the names in an expression: enough of PromQL's grammar to tell series, labels and functions apart.
func read(expr string) expression {
	e := expression{series: map[string][]string{}}
	tokens := token.FindAllString(expr, -1)
	at := func(i int) string {
		if i < len(tokens) {
			return tokens[i]
		}
		return ""
	}
	name := regexp.MustCompile(`^[a-zA-Z_:]`)
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case !name.MatchString(t) || slices.Contains([]string{"and", "or", "unless", "bool", "offset", "inf", "nan"}, strings.ToLower(t)):
		case slices.Contains([]string{"by", "without", "on", "ignoring", "group_left", "group_right"}, t):
			for i++; i < len(tokens) && tokens[i] != ")"; i++ {
				if name.MatchString(tokens[i]) {
					e.grouping = append(e.grouping, tokens[i])
				}
			}
		case slices.Contains([]string{"(", "by", "without"}, at(i+1)): // a function
		case at(i+1) == "{":
			e.series[t] = append(e.series[t], "")
			for i++; i < len(tokens) && tokens[i] != "}"; i++ {
				if name.MatchString(tokens[i]) {
					e.series[t] = append(e.series[t], tokens[i])
				}
			}
		default:
			e.series[t] = append(e.series[t], "")
		}
	}
	for s, labels := range e.series {
		slices.Sort(labels)
		e.series[s] = slices.Compact(labels)[1:] // without the "" that only says the series is there
	}
	return e
}

func TestReadTellsSeriesLabelsAndFunctionsApart(t *testing.T) {
	for _, row := range []struct {
		name, expr string
		series     map[string][]string
		grouping   []string
	}{
		{"a bare series", `up == 0`, map[string][]string{"up": {}}, nil},
		{"a selector", `a{x="y{z}",w=~"v"}`, map[string][]string{"a": {"w", "x"}}, nil},
		{"a range in a function", `sum by (u, v) (rate(a_total{x="1"}[5m] offset 1h)) > 14.4 * 0.001`, map[string][]string{"a_total": {"x"}}, []string{"u", "v"}},
		{"a recorded series", `a:b:c and d`, map[string][]string{"a:b:c": {}, "d": {}}, nil},
		{"a join", `a * on (i) group_left (h) b or vector(0)`, map[string][]string{"a": {}, "b": {}}, []string{"i", "h"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := read(row.expr)
			if len(got.series) != len(row.series) || !slices.Equal(got.grouping, row.grouping) {
				t.Errorf("read %q: %+v", row.expr, got)
			}
			for s, labels := range row.series {
				if !slices.Equal(got.series[s], labels) {
					t.Errorf("read %q: %s has labels %q, want %q", row.expr, s, got.series[s], labels)
				}
			}
		})
	}
}

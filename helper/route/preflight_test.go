package route_test

import (
	"net/http"
	"testing"

	"gatehouse/helper/route"
)

func TestMatchAnyMethod(t *testing.T) {
	rules := []route.Rule{
		rule("/"), // 0
		rule("/a", methods("GET"), header("X-Canary", "true")),       // 1
		rule("/a", methods("GET")),                                   // 2
		rule("/a", methods("PUT"), hosts("a.test")),                  // 3
		rule("/only-canary", methods("GET"), header("X-Canary", "")), // 4
	}
	canary := http.Header{"X-Canary": {"true"}}
	rows := []struct {
		sentence string
		host     string
		path     string
		header   http.Header
		accepted []int
		want     int
	}{
		{"the most specific rule is taken, whatever its methods", "a.test", "/a", nil, []int{0, 1, 2, 3}, 3},
		{"a rule for another host is left out", "b.test", "/a", nil, []int{0, 2, 3}, 2},
		{"a rule that isn't accepted is passed over", "a.test", "/a", nil, []int{0}, 0},
		{"a rule whose headers hold comes first", "b.test", "/a", canary, []int{0, 1, 2}, 1},
		{"a rule whose headers don't hold comes last", "b.test", "/a", nil, []int{0, 1, 2}, 2},
		{"a rule whose headers don't hold is better than none", "b.test", "/only-canary", nil, []int{4}, 4},
		{"no accepted rule is none", "b.test", "/a", nil, nil, -1},
		{"another path is none", "b.test", "/nope", nil, []int{1, 2, 3, 4}, -1},
	}
	table := newTable(t, rules...)
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			got := table.MatchAnyMethod(row.host, row.path, row.header, func(index int) bool {
				for _, accepted := range row.accepted {
					if accepted == index {
						return true
					}
				}
				return false
			})
			if got != row.want {
				t.Errorf("got rule %d, want %d", got, row.want)
			}
		})
	}
}

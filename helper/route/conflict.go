package route

import (
	"cmp"
	"fmt"
	"strings"
)

// requests are the requests that rules of the same specificity must not share, because only their order in the file
// would tell the rules apart.
type requests struct {
	pattern Pattern
	host    string // "" is any
	method  string // "" is any
	headers string
}

// conflicts maps each set of requests to the first rule for it.
type conflicts map[requests]int

// add enters the requests of a rule, and returns an error if an earlier rule has some of them.
func (s conflicts) add(rules []Rule, pattern Pattern, hosts []string, c compiled) error {
	var headers strings.Builder
	for _, condition := range c.headers {
		fmt.Fprintf(&headers, "%s: %q\n", condition.name, condition.value)
	}
	var err error
	for _, host := range orAny(hosts) {
		for _, method := range orAny(c.methods) {
			key := requests{pattern: pattern, host: host, method: method, headers: headers.String()}
			first, taken := s[key]
			if !taken {
				s[key] = c.index
			} else if err == nil {
				err = fmt.Errorf("can't be told apart from route %q: both take %s %s on %s with the same headers",
					rules[first].Name, cmp.Or(method, "any method"), rules[c.index].Path, cmp.Or(host, "any host"))
			}
		}
	}
	return err
}

func orAny(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

package route

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Table finds the rule for a request. It never changes, and is safe for concurrent use.
type Table struct {
	exact  layer // this path and no other
	below  layer // prefixes with a final slash, which is cut off: the paths that go on after it
	prefix layer // prefixes without one: this path, and those that go on after it
}

// New compiles the rules. Its error joins a [RuleError] for each problem of each rule.
func New(rules []Rule) (*Table, error) {
	t := &Table{}
	var problems []error
	seen, unconditional := conflicts{}, &conditions{}
	for i, rule := range rules {
		pattern, pathErr := ParsePattern(rule.Path, rule.AllowUnusualPath)
		hosts, hostErr := canonicalPatterns(rule.Hosts)
		headers, headerErr := compileHeaders(rule.Headers)
		errs := []error{pathErr, hostErr, checkMethods(rule.Methods), headerErr}
		c := compiled{index: i, conditions: unconditional}
		if len(rule.Methods)+len(headers) > 0 {
			c.conditions = &conditions{methods: slices.Clone(rule.Methods), headers: headers}
		}
		if errors.Join(errs...) == nil {
			t.add(pattern, hosts, c)
			errs = []error{seen.add(rules, pattern, hosts, c)}
		}
		for _, err := range errs {
			if err != nil {
				problems = append(problems, &RuleError{Index: i, Name: rule.Name, Err: err})
			}
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return t, nil
}

func (t *Table) add(p Pattern, hosts []string, c compiled) {
	spelled := spelling(p.Path)
	path, below := strings.CutSuffix(spelled, "/")
	switch {
	case p.Exact:
		t.exact.add(spelled, hosts, c)
	case below:
		t.below.add(path, hosts, c)
	default:
		t.prefix.add(path, hosts, c)
	}
}

// walk visits the rules that path and host allow, the most specific first, until visit returns true.
func (t *Table) walk(host, path string, visit func(compiled) bool) {
	if !strings.HasPrefix(path, "/") {
		return
	}
	path = spelling(path)
	deepest := max(len(t.exact.depths), len(t.below.depths), len(t.prefix.depths)) - 1
	end, depth := 0, 0 // path[:end] has depth segments
	for depth < deepest && end < len(path) {
		end, depth = segmentEnd(path, end), depth+1
	}
	if end == len(path) && t.exact.walk(path, depth, host, visit) {
		return
	}
	for {
		start := path[:end]
		if end < len(path) && t.below.walk(start, depth, host, visit) || t.prefix.walk(start, depth, host, visit) || depth == 0 {
			return
		}
		end, depth = strings.LastIndexByte(start, '/'), depth-1
	}
}

// segmentEnd returns where the segment ends whose slash is at path[start].
func segmentEnd(path string, start int) int {
	if length := strings.IndexByte(path[start+1:], '/'); length >= 0 {
		return start + 1 + length
	}
	return len(path)
}

// layer holds the rules of one kind of pattern by its path.
type layer struct {
	byPath map[string]byHost
	depths []bool // depths[n]: some path here has n segments, so that it is worth looking one up
}

func (l *layer) add(path string, hosts []string, c compiled) {
	depth := strings.Count(path, "/")
	for len(l.depths) <= depth {
		l.depths = append(l.depths, false)
	}
	l.depths[depth] = true
	if l.byPath == nil {
		l.byPath = map[string]byHost{}
	}
	rules := l.byPath[path]
	rules.add(hosts, c)
	l.byPath[path] = rules
}

func (l *layer) walk(path string, depth int, host string, visit func(compiled) bool) bool {
	if depth >= len(l.depths) || !l.depths[depth] {
		return false
	}
	rules, ok := l.byPath[path]
	return ok && rules.walk(host, visit)
}

// Status is how a match ended.
type Status uint8

// The ways in which a match ends.
const (
	// NotFound means that no rule matches, whatever the method.
	NotFound Status = iota
	// MethodNotAllowed means that a rule would match with another method (RFC 9110 section 15.5.6).
	MethodNotAllowed
	// Found means that a rule matches.
	Found
)

// Result is the outcome of a match.
type Result struct {
	// Index is the position of the rule in the list that New got; -1 where none matches.
	Index int
	// Status says why.
	Status Status
	// Allowed are the methods for the Allow header, sorted; set for MethodNotAllowed alone.
	Allowed []string
}

// Match returns the most specific rule for a request. The host is one that CanonicalHost returned, or empty, which only
// rules without hosts match. The path is the one of the request line, before the '?', and not decoded; a path with
// escapes costs one allocation.
func (t *Table) Match(host, path, method string, h http.Header) Result {
	index := -1
	t.walk(host, path, func(c compiled) bool {
		if !c.admits(method) || !c.headersHold(h) {
			return false
		}
		index = c.index
		return true
	})
	if index >= 0 {
		return Result{Index: index, Status: Found}
	}
	if allowed := t.allowed(host, path, h); len(allowed) > 0 {
		return Result{Index: -1, Status: MethodNotAllowed, Allowed: allowed}
	}
	return Result{Index: -1, Status: NotFound}
}

func (t *Table) allowed(host, path string, h http.Header) []string {
	var methods []string
	t.walk(host, path, func(c compiled) bool {
		switch {
		case !c.headersHold(h):
		case len(c.methods) > 0:
			methods = append(methods, c.methods...)
		default: // the request was a CONNECT or TRACE: every other method would do, and these are worth naming
			methods = append(methods, "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
		}
		return false
	})
	slices.Sort(methods)
	return slices.Compact(methods)
}

// MatchAnyMethod returns the most specific rule that accept agrees to, whatever its methods, or -1. It is for a CORS
// preflight whose Access-Control-Request-Method no rule admits; where Match finds a rule for that method, that
// rule alone answers the preflight, for another's answer would let the browser send what the rule itself doesn't
// allow. A browser doesn't send the headers of the real request with its preflight: a rule whose headers
// don't hold is returned only if there is none whose headers do. The host, path and h are those for Match.
func (t *Table) MatchAnyMethod(host, path string, h http.Header, accept func(index int) bool) int {
	found, fallback := -1, -1
	t.walk(host, path, func(c compiled) bool {
		if !accept(c.index) {
			return false
		}
		if c.headersHold(h) {
			found = c.index
			return true
		}
		if fallback < 0 {
			fallback = c.index
		}
		return false
	})
	if found >= 0 {
		return found
	}
	return fallback
}

func canonicalPatterns(hosts []string) ([]string, error) {
	var canonical []string
	var problems []error
	for _, pattern := range hosts {
		host, err := canonicalPattern(pattern)
		if err == nil && slices.Contains(canonical, host) {
			err = fmt.Errorf("host %q is named twice", pattern)
		}
		problems = append(problems, err)
		canonical = append(canonical, host)
	}
	return canonical, errors.Join(problems...)
}

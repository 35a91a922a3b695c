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
	root node
}

// node stands for a path that ends at a segment boundary, from the root down. The root is the empty path.
type node struct {
	parent   *node
	children map[string]*node // by the next segment

	exact  *byHost // this path and no other
	below  *byHost // prefix with a final slash: the paths that go on after this one
	prefix *byHost // this path, and those that go on after it
}

// New compiles the rules. Its error joins a [RuleError] for each problem of each rule.
func New(rules []Rule) (*Table, error) {
	t := &Table{}
	var problems []error
	seen := conflicts{}
	for i, rule := range rules {
		pattern, pathErr := ParsePattern(rule.Path, rule.AllowUnusualPath)
		hosts, hostErr := canonicalPatterns(rule.Hosts)
		headers, headerErr := compileHeaders(rule.Headers)
		errs := []error{pathErr, hostErr, checkMethods(rule.Methods), headerErr}
		c := &compiled{index: i, methods: slices.Clone(rule.Methods), headers: headers}
		if errors.Join(errs...) == nil {
			t.root.bucket(pattern).add(hosts, c)
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

// bucket returns where the rules with this pattern are kept, and makes it if need be.
func (n *node) bucket(p Pattern) *byHost {
	path, slash := p.Path, false
	if !p.Exact {
		path, slash = strings.CutSuffix(path, "/")
	}
	for path != "" {
		var name string
		name, path = nextSegment(path)
		child := n.children[name]
		if child == nil {
			child = &node{parent: n}
			if n.children == nil {
				n.children = map[string]*node{}
			}
			n.children[name] = child
		}
		n = child
	}
	at := &n.prefix
	if p.Exact {
		at = &n.exact
	} else if slash {
		at = &n.below
	}
	if *at == nil {
		*at = &byHost{}
	}
	return *at
}

// nextSegment cuts the first segment off a path, which begins with a slash. So does the rest, unless it is empty.
func nextSegment(path string) (name, rest string) {
	name = path[1:]
	if slash := strings.IndexByte(name, '/'); slash >= 0 {
		return name[:slash], name[slash:]
	}
	return name, ""
}

// walk visits the rules that path and host allow, the most specific first, until visit returns true.
func (t *Table) walk(host, path string, visit func(*compiled) bool) {
	if !strings.HasPrefix(path, "/") {
		return
	}
	n, rest := &t.root, path
	for rest != "" {
		name, after := nextSegment(rest)
		child := n.children[name]
		if child == nil {
			break
		}
		n, rest = child, after
	}
	if rest == "" {
		if n.exact.walk(host, visit) || n.prefix.walk(host, visit) {
			return
		}
		n = n.parent
	}
	for ; n != nil; n = n.parent {
		if n.below.walk(host, visit) || n.prefix.walk(host, visit) {
			return
		}
	}
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
// rules without hosts match. The path is the one of the request line, before the '?', and not decoded.
func (t *Table) Match(host, path, method string, h http.Header) Result {
	index := -1
	t.walk(host, path, func(c *compiled) bool {
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
	t.walk(host, path, func(c *compiled) bool {
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
	t.walk(host, path, func(c *compiled) bool {
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

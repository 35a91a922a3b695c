package route

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Rule says which requests belong to one route. Every condition has to hold; an empty list is no condition.
type Rule struct {
	// Name stands in error messages.
	Name string
	// Path is a prefix that ends at a segment boundary ("/order"), or one path alone ("= /order").
	Path string
	// Hosts are names ("api.example.com", "[::1]") or wildcards ("*.example.com"). They may be written in any case.
	Hosts []string
	// Methods are compared case-sensitively.
	Methods []string
	// Headers maps a name to the exact value, or to "~" and a regular expression that is searched for in the value. One
	// line of several with that name is enough.
	Headers map[string]string
	// AllowUnusualPath lets Path itself be unusual. What it means for requests is the caller's part: see the package
	// comment.
	AllowUnusualPath bool
}

// RuleError is one problem of one rule. The error of [New] joins all of them.
type RuleError struct {
	// Index is the rule's position in the list that New got.
	Index int
	// Name is the rule's name.
	Name string
	// Err says what is wrong.
	Err error
}

func (e *RuleError) Error() string { return fmt.Sprintf("route %q: %v", e.Name, e.Err) }

// Unwrap returns Err.
func (e *RuleError) Unwrap() error { return e.Err }

// Pattern is what Rule.Path means.
type Pattern struct {
	// Path is the path or prefix, as it stands in a request line.
	Path string
	// Exact says that Path is no prefix.
	Exact bool
}

// ParsePattern reads a Rule.Path. Paths that CheckPath refuses are errors, as no request could match them.
func ParsePattern(s string, allowUnusual bool) (Pattern, error) {
	path, exact := strings.CutPrefix(s, "= ")
	if problem := CheckPath(path, allowUnusual); problem != Clean {
		return Pattern{}, fmt.Errorf("path %q: %s", s, problem)
	}
	return Pattern{Path: path, Exact: exact}, nil
}

// compiled is a rule whose path and host are known to match. It is small, for the sake of large tables.
type compiled struct {
	index int
	*conditions
}

// conditions are what is left to hold. Rules without any share one.
type conditions struct {
	methods []string
	headers []headerCondition
}

type headerCondition struct {
	name    string // canonical
	value   string
	pattern *regexp.Regexp // nil: value is compared
}

func (c *conditions) count() int {
	return len(c.headers) + min(len(c.methods), 1)
}

func (c *conditions) admits(method string) bool {
	if len(c.methods) == 0 {
		return method != http.MethodConnect && method != http.MethodTrace
	}
	return slices.Contains(c.methods, method)
}

func (c *conditions) headersHold(h http.Header) bool {
	for i := range c.headers {
		if !c.headers[i].holds(h) {
			return false
		}
	}
	return true
}

func (c *headerCondition) holds(h http.Header) bool {
	for _, value := range h[c.name] {
		if c.pattern == nil && value == c.value || c.pattern != nil && c.pattern.MatchString(value) {
			return true
		}
	}
	return false
}

func checkMethods(methods []string) error {
	var problems []error
	for i, method := range methods {
		switch {
		case !isToken(method):
			problems = append(problems, fmt.Errorf("method %q isn't a token", method))
		case method == http.MethodConnect || method == http.MethodTrace:
			problems = append(problems, fmt.Errorf("method %s is refused on every route", method))
		case slices.Contains(methods[:i], method):
			problems = append(problems, fmt.Errorf("method %s is named twice", method))
		}
	}
	return errors.Join(problems...)
}

// compileHeaders returns the conditions sorted by name, so that equal sets compare equal.
func compileHeaders(headers map[string]string) ([]headerCondition, error) {
	var conditions []headerCondition
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		condition := headerCondition{name: http.CanonicalHeaderKey(name), value: headers[name]}
		same := func(other headerCondition) bool { return other.name == condition.name }
		switch {
		case !isToken(name):
			problems = append(problems, fmt.Errorf("header %q isn't a field name", name))
		case condition.name == "Host":
			problems = append(problems, errors.New("header Host can't be a condition: use hosts"))
		case slices.ContainsFunc(conditions, same):
			problems = append(problems, fmt.Errorf("header %s is named twice", condition.name))
		}
		if expression, ok := strings.CutPrefix(condition.value, "~"); ok {
			pattern, err := regexp.Compile(expression)
			if err != nil {
				problems = append(problems, fmt.Errorf("header %s: %w", condition.name, err))
			}
			condition.pattern = pattern
		}
		conditions = append(conditions, condition)
	}
	slices.SortFunc(conditions, func(a, b headerCondition) int { return strings.Compare(a.name, b.name) })
	return conditions, errors.Join(problems...)
}

// isToken says that s can be a method or a field name (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letterOrDigit := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letterOrDigit && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

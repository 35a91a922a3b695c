package identity

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Claim finds a claim by its path. A claim whose whole name is the path comes first, so that a name with dots
// (https://x.io/scopes) can be given as it is; otherwise dots reach into objects (realm_access.roles).
func Claim(claims map[string]any, path string) (any, bool) {
	for {
		if value, ok := claims[path]; ok {
			return value, true
		}
		name, rest, dotted := strings.Cut(path, ".")
		if !dotted {
			return nil, false
		}
		object, ok := claims[name].(map[string]any)
		if !ok {
			return nil, false
		}
		claims, path = object, rest
	}
}

// ClaimRequirement is what a route asks of claims beside scopes. The zero ClaimRequirement is satisfied by every
// caller.
type ClaimRequirement struct {
	claims []claimChoice
}

type claimChoice struct {
	path   string
	values []any // string, json.Number or bool
}

// CompileClaims compiles wanted: claim path → a string, number or boolean, or a list of them, one of which must
// match. Any other type and an empty list are errors.
func CompileClaims(wanted map[string]any) (ClaimRequirement, error) {
	var requirement ClaimRequirement
	for path, value := range wanted {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		if path == "" || len(list) == 0 {
			return ClaimRequirement{}, fmt.Errorf("claim %q: a name and at least one value are needed", path)
		}
		choice := claimChoice{path: path}
		for _, element := range list {
			scalar, ok := scalarOf(element)
			if !ok {
				return ClaimRequirement{}, fmt.Errorf("claim %q: a value must be a string, a number or a boolean, not %T", path, element)
			}
			choice.values = append(choice.values, scalar)
		}
		requirement.claims = append(requirement.claims, choice)
	}
	slices.SortFunc(requirement.claims, func(a, b claimChoice) int { return strings.Compare(a.path, b.path) })
	return requirement, nil
}

// Mismatch returns the path of the first claim, in alphabetical order, that is missing or has none of the wanted
// values, and "" when all match. A claim that is an array matches if one of its elements does. Types are compared
// too: the string "1" is not the number 1.
func (r ClaimRequirement) Mismatch(claims map[string]any) string {
	for _, choice := range r.claims {
		value, _ := Claim(claims, choice.path)
		elements, ok := value.([]any)
		if !ok {
			elements = []any{value}
		}
		if !slices.ContainsFunc(elements, choice.matches) {
			return choice.path
		}
	}
	return ""
}

func (c claimChoice) matches(claim any) bool {
	scalar, ok := scalarOf(claim)
	return ok && slices.ContainsFunc(c.values, func(wanted any) bool { return equal(wanted, scalar) })
}

// scalarOf turns every kind of Go number into a json.Number, so that YAML's and JSON's can be compared.
func scalarOf(value any) (any, bool) {
	switch value := value.(type) {
	case string, bool, json.Number:
		return value, true
	case int:
		return json.Number(strconv.Itoa(value)), true
	case int64:
		return json.Number(strconv.FormatInt(value, 10)), true
	case uint64:
		return json.Number(strconv.FormatUint(value, 10)), true
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, false
		}
		return json.Number(strconv.FormatFloat(value, 'g', -1, 64)), true
	}
	return nil, false
}

// equal compares two scalars. Numbers are equal as text or, up to 2^53, as floating point: above that different
// integers share one floating-point value, and two accounts must not.
func equal(a, b any) bool {
	if a == b {
		return true
	}
	m, ok1 := a.(json.Number)
	n, ok2 := b.(json.Number)
	if !ok1 || !ok2 {
		return false
	}
	x, err1 := m.Float64()
	y, err2 := n.Float64()
	return err1 == nil && err2 == nil && x == y && math.Abs(x) <= 1<<53
}

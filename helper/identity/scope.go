package identity

import (
	"fmt"
	"slices"
	"strings"
)

// Scopes is a set of granted scopes. It is a slice because a token has few of them.
type Scopes []string

// ParseScopes reads a scope claim: a string split at spaces and commas (RFC 6749, section 3.3, and the issuers that use
// commas), and at no other blank, which would make a scope of a part of what the issuer has written as one; or an array
// of strings, whose elements are taken whole. Any other type, also as one element of an array, grants nothing.
func ParseScopes(claim any) Scopes {
	switch claim := claim.(type) {
	case string:
		return strings.FieldsFunc(claim, func(r rune) bool { return r == ',' || r == ' ' })
	case []string:
		return slices.Clone(claim)
	case []any:
		scopes := make(Scopes, 0, len(claim))
		for _, element := range claim {
			scope, ok := element.(string)
			if !ok {
				return nil
			}
			scopes = append(scopes, scope)
		}
		return scopes
	}
	return nil
}

// Has reports whether scope is in the set.
func (s Scopes) Has(scope string) bool { return slices.Contains(s, scope) }

// Requirement is what a route asks for: all of its entries, each of which is one scope or a choice of several. The
// zero Requirement is satisfied by every caller.
type Requirement struct {
	choices [][]string
	text    string
}

// CompileRequirement compiles scopes, where "a|b" stands for one of the two. An empty scope, or one that can't stand
// in a WWW-Authenticate header (RFC 6749, section 3.3), is an error.
func CompileRequirement(scopes []string) (Requirement, error) {
	var requirement Requirement
	var first []string
	for _, entry := range scopes {
		choice := strings.Split(entry, "|")
		for _, scope := range choice {
			if !isScopeToken(scope) {
				return Requirement{}, fmt.Errorf("scope %q: %q is not a scope of printable ASCII without spaces, quotes and backslashes", entry, scope)
			}
		}
		requirement.choices = append(requirement.choices, choice)
		first = append(first, choice[0])
	}
	requirement.text = strings.Join(first, " ")
	return requirement, nil
}

// isScopeToken reports whether s is a scope-token of RFC 6749, section 3.3.
func isScopeToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}

// Satisfied reports whether scopes hold one of each choice.
func (r Requirement) Satisfied(scopes Scopes) bool {
	for _, choice := range r.choices {
		if !slices.ContainsFunc(choice, scopes.Has) {
			return false
		}
	}
	return true
}

// Missing returns the entries that scopes don't satisfy, as they were written ("a|b"), for a log line.
func (r Requirement) Missing(scopes Scopes) []string {
	var missing []string
	for _, choice := range r.choices {
		if !slices.ContainsFunc(choice, scopes.Has) {
			missing = append(missing, strings.Join(choice, "|"))
		}
	}
	return missing
}

// String returns the scopes that would do, for the scope attribute of WWW-Authenticate (RFC 6750, section 3). Of a
// choice it names the first, so that a client can ask its issuer for exactly this text.
func (r Requirement) String() string { return r.text }

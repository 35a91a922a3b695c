package credential

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"gatehouse/helper/token"
)

// State is what became of looking for a token.
type State int

// The states.
const (
	Missing   State = iota // nothing is there
	Found                  // something is there, which may still be anything
	Malformed              // what is there can't be a token
	Ambiguous              // it is there more than once
)

// kind is a sort of place.
type kind string

const (
	header kind = "header"
	cookie kind = "cookie"
	query  kind = "query"
)

// Place is where a token may be.
type Place struct {
	kind kind
	name string // of the cookie or the parameter
}

// ParsePlace reads header, cookie:NAME or query:NAME.
func ParsePlace(text string) (Place, error) {
	before, name, named := strings.Cut(text, ":")
	switch k := kind(before); {
	case k == header && !named:
		return Place{kind: header}, nil
	case (k == cookie || k == query) && name != "":
		return Place{k, name}, nil
	}
	return Place{}, fmt.Errorf("place %q for a token: it is header, cookie:NAME or query:NAME", text)
}

// Find looks for a token in r.
func (p Place) Find(r *http.Request) (raw string, state State) {
	switch p.kind {
	case cookie:
		for _, line := range r.Header["Cookie"] {
			for part := range strings.SplitSeq(line, ";") {
				if name, value, _ := strings.Cut(part, "="); strings.TrimSpace(name) == p.name {
					raw, state = strings.Trim(strings.TrimSpace(value), `"`), next(state)
				}
			}
		}
	case query:
		for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
			if name, value, _ := strings.Cut(part, "="); parameterName(name) == p.name {
				raw, state = value, next(state)
			}
		}
	default:
		return inHeader(r.Header)
	}
	if state == Found && !token.IsB64Token(raw) { // no letter of a token needs an escape
		state = Malformed
	}
	if state != Found {
		raw = ""
	}
	return raw, state
}

// next is the state after one more was found.
func next(state State) State {
	if state == Missing {
		return Found
	}
	return Ambiguous
}

func inHeader(h http.Header) (string, State) {
	raw, state := token.Bearer(h)
	switch state {
	case token.BearerNone:
		return "", Missing
	case token.BearerOK:
		return raw, Found
	case token.BearerDuplicate:
		return "", Ambiguous
	}
	return "", Malformed
}

// parameterName is how a server reads the name of a parameter (the URL standard, section 5.1); one that can't be decoded
// is its own name.
func parameterName(escaped string) string {
	if name, err := url.QueryUnescape(escaped); err == nil {
		return name
	}
	return escaped
}

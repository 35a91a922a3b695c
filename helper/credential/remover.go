package credential

import (
	"net/http"
	"slices"
	"strings"
)

// Remover takes cookies and parameters out of requests. The zero Remover takes none.
type Remover struct {
	cookies, parameters []string
}

// NewRemover makes a Remover for what is in the places; a header is none of its.
func NewRemover(places []Place) Remover {
	var r Remover
	for _, p := range places {
		switch p.kind {
		case cookie:
			r.cookies = append(r.cookies, p.name)
		case query:
			r.parameters = append(r.parameters, p.name)
		}
	}
	return r
}

// Cookies takes the cookies out of h, and the lines that have no other.
func (r Remover) Cookies(h http.Header) {
	if len(r.cookies) == 0 {
		return
	}
	lines := h["Cookie"]
	var kept []string
	for i, line := range lines {
		rest := without(line, ";", func(part string) bool {
			name, _, _ := strings.Cut(part, "=")
			return slices.Contains(r.cookies, strings.TrimSpace(name))
		})
		if kept == nil && rest != line {
			kept = append(make([]string, 0, len(lines)), lines[:i]...) // h's own slice may be shared
		}
		if kept != nil && strings.TrimSpace(rest) != "" {
			kept = append(kept, strings.TrimLeft(rest, " "))
		}
	}
	switch {
	case kept == nil:
	case len(kept) == 0:
		delete(h, "Cookie")
	default:
		h["Cookie"] = kept
	}
}

// Query returns rawQuery without the parameters.
func (r Remover) Query(rawQuery string) string {
	if len(r.parameters) == 0 {
		return rawQuery
	}
	return without(rawQuery, "&", func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		return slices.Contains(r.parameters, parameterName(name))
	})
}

// without returns text without the parts that are unwanted, each with one separator, and text itself if there are none.
func without(text, separator string, unwanted func(part string) bool) string {
	parts := strings.Split(text, separator)
	kept := slices.DeleteFunc(parts, unwanted)
	if strings.Count(text, separator)+1 == len(kept) {
		return text
	}
	return strings.Join(kept, separator)
}

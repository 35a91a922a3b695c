package field

import (
	"net/http"
	"strings"
)

// Plain is the spelling by which a header's canonical name is known, and canonical itself: letters, digits and dashes.
func Plain(canonical string) string {
	for i := range len(canonical) {
		if c := canonical[i]; !isPlain(rune(c)) && c != '-' {
			return Spelling(canonical)
		}
	}
	return canonical
}

// Spelling is Plain for a name in any case.
func Spelling(name string) string {
	return http.CanonicalHeaderKey(strings.Map(func(c rune) rune {
		if isPlain(c) {
			return c
		}
		return '-'
	}, name))
}

func isPlain(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

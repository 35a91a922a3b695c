package token

import (
	"net/http"
	"strings"
)

// BearerState is what became of looking for a token in the Authorization header.
type BearerState int

const (
	// BearerNone means that there is no Authorization header, or one of another scheme.
	BearerNone BearerState = iota
	// BearerOK means that there is a token, which may still be anything.
	BearerOK
	// BearerMalformed means that the scheme is Bearer, and what follows isn't one token.
	BearerMalformed
	// BearerDuplicate means that there are several Authorization lines. Which of them counts is a matter on which
	// servers differ, so none does.
	BearerDuplicate
)

// Bearer finds the token in "Authorization: Bearer TOKEN" (RFC 6750, section 2.1). The scheme is case-insensitive (RFC
// 9110, section 11.1), one or more spaces follow it, and the token is a b64token up to the end of the line. The token
// is "" unless the state is BearerOK.
func Bearer(header http.Header) (string, BearerState) {
	lines := header["Authorization"]
	switch {
	case len(lines) == 0:
		return "", BearerNone
	case len(lines) > 1:
		return "", BearerDuplicate
	}
	const scheme = "bearer"
	line := lines[0]
	if len(line) < len(scheme) || !strings.EqualFold(line[:len(scheme)], scheme) {
		return "", BearerNone
	}
	rest := line[len(scheme):]
	token := strings.TrimLeft(rest, " ")
	switch {
	case rest != "" && isSchemeChar(rest[0]):
		return "", BearerNone // "BearerX" is another scheme
	case len(token) == len(rest) || !IsB64Token(token):
		return "", BearerMalformed
	}
	return token, BearerOK
}

// isSchemeChar reports whether a scheme's name goes on with c: a tchar of RFC 9110, section 5.6.2.
func isSchemeChar(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// IsB64Token reports whether s is a b64token (RFC 6750, section 2.1): letters, digits and -._~+/ and then any number of =.
func IsB64Token(s string) bool {
	// A bit for each byte that may be in one. A token is long, its letters are as good as random, and it is looked at in each
	// request: comparisons would mostly be guessed wrong.
	const (
		digits  = 1<<10 - 1
		letters = 1<<26 - 1
		low     = digits<<'0' | 1<<'-' | 1<<'.' | 1<<'+' | 1<<'/'
		high    = letters<<('A'-64) | letters<<('a'-64) | 1<<('_'-64) | 1<<('~'-64)
	)
	set := [4]uint64{low, high}
	s = strings.TrimRight(s, "=")
	for i := range len(s) {
		if c := s[i]; set[c>>6]>>(c&63)&1 == 0 {
			return false
		}
	}
	return s != ""
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

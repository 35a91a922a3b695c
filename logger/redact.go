package logger

import (
	"strings"
	"unicode/utf8"
)

const (
	mask    = "***"
	maxText = 2 << 10 // bytes of one value a client may fill the log with
	cutMark = "...(cut)"
)

// clip returns s, or its first 2 KiB and a mark.
func clip(s string) string {
	short, mark := cut(s)
	return short + mark
}

// cut returns s or the start of it that is shown, and the mark that is to follow.
func cut(s string) (short, mark string) {
	if len(s) <= maxText {
		return s, ""
	}
	end := maxText
	for end > maxText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], cutMark
}

// redactQuery returns the query with the values of the parameters in names, which are in lower case, masked, and
// clipped. It cuts before it masks, so that a mask can't be cut off and no more than 2 KiB are looked at.
func redactQuery(query string, names []string) string {
	short, mark := cut(query)
	return maskValues(short, names) + mark
}

// redactURL is redactQuery for a text that may be a URL: parameters stand after its first ? or #.
func redactURL(s string, names []string) string {
	short, mark := cut(s)
	if start := strings.IndexAny(short, "?#") + 1; start > 0 {
		if masked := maskValues(short[start:], names); masked != short[start:] {
			short = short[:start] + masked
		}
	}
	return short + mark
}

// maskValues masks the values of the parameters in names and leaves every other byte as it is. Readers of a query
// disagree on what separates parameters, a semicolon above all: here a name may begin after anything that could, and
// only & ends a value, so that no reading shows a secret.
func maskValues(query string, names []string) string {
	var b strings.Builder
	done := 0 // what of query is in b
	for start := 0; ; {
		i := strings.IndexAny(query[start:], "=&;?#")
		if i < 0 {
			break
		}
		end := start + i
		if query[end] == '=' && nameIn(query[start:end], names) {
			b.WriteString(query[done : end+1])
			b.WriteString(mask)
			done = valueEnd(query, end+1)
			end = done
		}
		start = min(end+1, len(query))
	}
	if done == 0 {
		return query
	}
	b.WriteString(query[done:])
	return b.String()
}

// valueEnd returns where the value that begins at start ends.
func valueEnd(query string, start int) int {
	if i := strings.IndexByte(query[start:], '&'); i >= 0 {
		return start + i
	}
	return len(query)
}

// nameIn reports whether a name, as it stands in a query, is one of names, which are in lower case.
func nameIn(name string, names []string) bool {
	for _, want := range names {
		if sameName(name, want) {
			return true
		}
	}
	return false
}

// sameName compares without regard to case and percent-encoding, and without making a decoded copy.
func sameName(name, want string) bool {
	for i := 0; i < len(want); i++ {
		if name == "" {
			return false
		}
		c := name[0]
		name = name[1:]
		if c == '%' && len(name) >= 2 {
			if high, low := hexDigit(name[0]), hexDigit(name[1]); high < 16 && low < 16 {
				c, name = high<<4|low, name[2:]
			}
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return name == ""
}

// hexDigit returns the value of a hex digit in either case, or 255.
func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

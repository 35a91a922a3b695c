package trace

import "strings"

const (
	maxRequestID       = 128
	maxTracestate      = 512 // what every vendor should be able to carry (W3C Trace Context level 1, section 3.3.1.5)
	maxTracestateItems = 32
	maxKey             = 256
	maxTenant          = 241
	maxSystem          = 14
	maxValue           = 256
)

// ValidRequestID reports whether id may stand in for the trace id when a trusted proxy sent it as X-Request-Id:
// 1 to 128 bytes of letters, digits and . _ : / + = @ -, so that it can't break a log line, a header or a query.
func ValidRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !isLower(c) && !isDigit(c) && (c < 'A' || c > 'Z') && strings.IndexByte("._:/+=@-", c) < 0 {
			return false
		}
	}
	return true
}

// ValidTracestate reports whether a tracestate header, its lines joined by commas, follows W3C Trace Context level 1,
// section 3.3.1, and is at most 512 bytes and 32 members. Empty members are allowed, a list of nothing else is not.
// A key that stands there twice is not looked for.
func ValidTracestate(tracestate string) bool {
	if len(tracestate) > maxTracestate {
		return false
	}
	members := 0
	for member := range strings.SplitSeq(tracestate, ",") {
		// Only the blanks before a member are optional whitespace: a value may hold blanks, but not end with one,
		// so those after it are optional whitespace as well.
		member = strings.Trim(member, " \t")
		if member == "" {
			continue
		}
		key, value, found := strings.Cut(member, "=")
		if !found || !validKey(key) || !validValue(value) {
			return false
		}
		members++
	}
	return members > 0 && members <= maxTracestateItems
}

// validKey reports whether key is a simple key, or tenant@system.
func validKey(key string) bool {
	tenant, system, multi := strings.Cut(key, "@")
	if !multi {
		return len(key) <= maxKey && key != "" && isLower(key[0]) && keyChars(key)
	}
	return tenant != "" && len(tenant) <= maxTenant && keyChars(tenant) && (isLower(tenant[0]) || isDigit(tenant[0])) &&
		system != "" && len(system) <= maxSystem && keyChars(system) && isLower(system[0])
}

func keyChars(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLower(c) && !isDigit(c) && strings.IndexByte("_-*/", c) < 0 {
			return false
		}
	}
	return true
}

func validValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '=' {
			return false
		}
	}
	return s != "" && len(s) <= maxValue
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

package route

import "strings"

// PathProblem is what is wrong with a path. Its text is fit for the client.
type PathProblem uint8

// The problems. Those from DotSegment on are unusual: a rule can allow them.
const (
	// Clean is no problem.
	Clean PathProblem = iota
	// NotAbsolute is a path that doesn't begin with a slash.
	NotAbsolute
	// ForbiddenByte is a byte that can't stand in the path of a request line: a control character, a space, '#', '?' or
	// a byte outside ASCII (RFC 3986 section 3.3).
	ForbiddenByte
	// InvalidEscape is a percent sign without two hexadecimal digits (RFC 3986 section 2.1).
	InvalidEscape
	// DotSegment is a segment "." or "..", in any spelling and with any parameters (RFC 3986 section 3.3).
	DotSegment
	// EmptySegment is a segment without a name anywhere but at the end: "//", or "/;v=1/", which some servers take for it.
	EmptySegment
	// EncodedSlash is "%2f".
	EncodedSlash
	// Backslash is '\' or "%5c", which some servers take for a slash.
	Backslash
	// EncodedControl is an encoded control character, such as "%00" or "%0a".
	EncodedControl
)

// Unusual says whether a rule with AllowUnusualPath takes such a path.
func (p PathProblem) Unusual() bool { return p >= DotSegment }

func (p PathProblem) String() string {
	switch p {
	case Clean:
		return "the path is clean"
	case NotAbsolute:
		return "the path doesn't begin with a slash"
	case ForbiddenByte:
		return "the path contains a byte that must be percent-encoded"
	case InvalidEscape:
		return "the path contains an invalid percent-encoding"
	case DotSegment:
		return "the path contains a dot segment"
	case EmptySegment:
		return "the path contains an empty segment"
	case EncodedSlash:
		return "the path contains an encoded slash"
	case Backslash:
		return "the path contains a backslash"
	case EncodedControl:
		return "the path contains an encoded control character"
	default:
		return "the path has an unknown problem"
	}
}

// CheckPath returns what is wrong with the path of a request as it stood on the wire, before the '?'. A problem that no rule
// can allow is returned rather than an unusual one, wherever the two stand. With allowUnusual the unusual ones count as
// Clean. Escapes are decoded once: "%252f" is no slash. It allocates nothing.
func CheckPath(raw string, allowUnusual bool) PathProblem {
	if !strings.HasPrefix(raw, "/") {
		return NotAbsolute
	}
	unusual := Clean // the first one
	var current segment
	for i := 1; i < len(raw); i++ {
		if ordinary(raw[i]) {
			for i+1 < len(raw) && ordinary(raw[i+1]) {
				i++
			}
			current.add(raw[i]) // one byte of them tells as much as all
			continue
		}
		found := Clean
		switch c := raw[i]; c {
		case '/':
			found = current.problem(false)
			current = segment{}
		case '.', ';':
			current.add(c)
		case '\\':
			found = Backslash
			current.add(c)
		case '%':
			decoded, ok := unescape(raw[i+1:])
			if !ok {
				return InvalidEscape
			}
			i += 2
			found = escapeProblem(decoded)
			current.add(decoded)
		default:
			return ForbiddenByte
		}
		if unusual == Clean {
			unusual = found
		}
	}
	switch {
	case allowUnusual:
		return Clean
	case unusual == Clean:
		return current.problem(true)
	default:
		return unusual
	}
}

// ordinary says that c has no meaning of its own in a path. Two constants serve as the table.
func ordinary(c byte) bool {
	const (
		low  = 1<<33 - 1 | 1<<'#' | 1<<'%' | 1<<'.' | 1<<'/' | 1<<';' | 1<<'?' // 0x00-0x20 and these
		high = 1<<('\\'-64) | 1<<(0x7f-64)
	)
	switch {
	case c < 64:
		return uint64(low)>>c&1 == 0
	case c < 128:
		return uint64(high)>>(c-64)&1 == 0
	default:
		return false
	}
}

func escapeProblem(decoded byte) PathProblem {
	switch {
	case decoded == '/':
		return EncodedSlash
	case decoded == '\\':
		return Backslash
	case decoded < ' ' || decoded == 0x7f:
		return EncodedControl
	default:
		return Clean
	}
}

// segment is what has been read of a path segment: enough to tell an empty name, "." and ".." from all others.
type segment struct {
	name   uint8 // 0 is empty, 1 is ".", 2 is "..", 3 is any other
	params bool  // a ';' has ended the name
}

func (s *segment) add(c byte) {
	switch {
	case s.params || s.name == 3:
	case c == ';':
		s.params = true
	case c == '.':
		s.name++
	default:
		s.name = 3
	}
}

func (s *segment) problem(last bool) PathProblem {
	switch {
	case s.name == 1 || s.name == 2:
		return DotSegment
	case s.name == 0 && !last:
		return EmptySegment
	default:
		return Clean
	}
}

func unescape(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, ok1 := hexDigit(s[0])
	low, ok2 := hexDigit(s[1])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}

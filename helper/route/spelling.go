package route

import "strings"

// spelling returns the form in which paths are compared: escapes are decoded once, so that /%6frder is /order for the
// table as it is for the upstream (RFC 3986 section 6.2.2.2). An encoded slash or percent sign stays encoded, in upper
// case: decoded it would be another path. It allocates only if there is an escape.
func spelling(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	var b strings.Builder
	b.Grow(len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		decoded, ok := unescape(path[i+1:])
		switch {
		case !ok:
			b.WriteByte(c)
			continue
		case decoded == '/':
			b.WriteString("%2F")
		case decoded == '%':
			b.WriteString("%25")
		default:
			b.WriteByte(decoded)
		}
		i += 2
	}
	return b.String()
}

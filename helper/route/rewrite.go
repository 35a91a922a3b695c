package route

import "strings"

// Strip returns raw without as many segments as prefix has, which is the Pattern.Path of the rule that matched: raw may
// spell them with other escapes. The result begins with a slash and is otherwise byte for byte what stood in raw.
//
// For a path that CheckPath found Clean the result is clean too. For an unusual one it is as it came, and so it can
// begin with "//": whoever puts it into a URL has to keep it from being read as a host.
func Strip(raw, prefix string) string {
	rest := raw
	for range strings.Count(strings.TrimSuffix(prefix, "/"), "/") {
		next := strings.IndexByte(rest[1:], '/')
		if next < 0 {
			return "/"
		}
		rest = rest[1+next:]
	}
	return rest
}

// Rewrite returns the path for the upstream: raw, stripped of matchedPrefix if strip is set, with rewrite put in front.
// They are joined with exactly one slash. It allocates only if rewrite isn't empty.
func Rewrite(raw string, strip bool, matchedPrefix, rewrite string) string {
	if strip {
		raw = Strip(raw, matchedPrefix)
	}
	return strings.TrimRight(rewrite, "/") + raw
}

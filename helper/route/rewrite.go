package route

import "strings"

// Strip returns raw without prefix, which is the Pattern.Path of the rule that matched. The result begins with a slash and
// is otherwise byte for byte what stood in raw. A prefix that doesn't end at a segment boundary of raw isn't removed.
//
// For a path that CheckPath found Clean the result is clean too. For an unusual one it is as it came, and so it can
// begin with "//": whoever puts it into a URL has to keep it from being read as a host.
func Strip(raw, prefix string) string {
	rest, ok := strings.CutPrefix(raw, strings.TrimSuffix(prefix, "/"))
	switch {
	case !ok:
		return raw
	case rest == "":
		return "/"
	case rest[0] != '/':
		return raw
	default:
		return rest
	}
}

// Rewrite returns the path for the upstream: raw, stripped of matchedPrefix if strip is set, with rewrite put in front.
// They are joined with exactly one slash. It allocates only if rewrite isn't empty.
func Rewrite(raw string, strip bool, matchedPrefix, rewrite string) string {
	if strip {
		raw = Strip(raw, matchedPrefix)
	}
	return strings.TrimRight(rewrite, "/") + raw
}

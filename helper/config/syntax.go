package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]*$`)
	hostForm     = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)
	originForm   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(?:\*\.)?([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?$`)
	tokenForm    = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, section 5.6.2
	hiddenEscape = regexp.MustCompile(`(?i)%(2e|2f|5c|[01][0-9a-f]|7f)`)
)

// name checks the name of an upstream, provider or plan: it becomes a scope, a metric label and part of a key.
func (s section) name(name string) {
	if !nameForm.MatchString(name) {
		s.refuse("%q is not a name: write letters, digits, and - _ . : after the first", name)
	}
}

// listener checks an address to listen on: HOST:PORT or unix:/path.
func (s section) listener(address string) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if !strings.HasPrefix(path, "/") {
			s.refuse("%s is not an address: write unix:/path.sock", s.written())
		}
		return
	}
	host, port, err := net.SplitHostPort(address)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || strconv.FormatUint(number, 10) != port || host != "" && !validHost(host) {
		s.refuse(`%s is not an address: write ":8080", "127.0.0.1:8080" or unix:/path.sock`, s.written())
	}
}

// validHost tells whether host is a DNS name or an address without brackets.
func validHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || len(host) <= 253 && hostForm.MatchString(host)
}

// backendURL checks where a request can be sent to.
func (s section) backendURL(text string) {
	shown := s.written()
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
			s.refuse("%s is not a socket: write unix:/path.sock", shown)
		}
		return
	}
	const example = "http://host:8080"
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "":
		s.refuse("%s is not a URL: write one such as %s, with an IPv6 address in brackets", shown, example)
	case !slices.Contains([]string{"http", "https", "h2c"}, u.Scheme):
		s.refuse("%s doesn't begin with http://, https://, h2c:// or unix:/: write %s", shown, example)
	case u.User != nil:
		s.refuse("a URL with a user or a password isn't supported: write %s", example)
	case !validHost(u.Hostname()) || strings.Contains(u.Hostname(), ":") != strings.HasPrefix(u.Host, "["):
		s.refuse("%s has no usable host: write %s, with an IPv6 address in brackets", shown, example)
	case !validPort(u.Port()) || strings.HasSuffix(u.Host, ":"):
		s.refuse("%s has no usable port: write one from 1 to 65535", shown)
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		s.refuse("%s has a query or a fragment: write %s", shown, example)
	case u.Path != "":
		s.path(u.EscapedPath()) // it stands in front of every request's path
	}
}

func validPort(port string) bool {
	number, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && number > 0
}

// webURL checks an absolute http or https URL of another service.
func (s section) webURL(text string) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !validHost(u.Hostname()) || !validPort(u.Port()) || u.User != nil {
		s.refuse("is not a URL of another service: write one such as https://host/path")
	}
}

// path checks a path as it can stand in a request line, in the only spelling that a request can have to match it.
func (s section) path(path string) {
	switch {
	case !strings.HasPrefix(path, "/"):
		s.refuse("%s doesn't begin with /: write a path such as /order", s.written())
	case strings.ContainsAny(path, "?#"):
		s.refuse("%s has a ? or #: write the path alone", s.written())
	case strings.ContainsAny(path, "\\ ") || strings.ContainsFunc(path, func(r rune) bool { return r >= 0x7f || r < ' ' }):
		s.refuse("%s has a character that no path has: write it percent-encoded, such as %%C3%%A9", s.written())
	case strings.Contains(path, "//"):
		s.refuse("%s has an empty segment: write one / only", s.written())
	case hiddenEscape.MatchString(path) || slices.ContainsFunc(strings.Split(path, "/"), dotSegment):
		s.refuse("%s has a dot segment or an encoded dot, slash, backslash or control character, which no safe request has: write the plain path", s.written())
	default:
		if _, err := url.PathUnescape(path); err != nil {
			s.refuse("%s has a %% without two hexadecimal digits: write %%25 for a percent sign", s.written())
		}
	}
}

func dotSegment(segment string) bool {
	segment, _, _ = strings.Cut(segment, ";") // servers that know path parameters drop them
	return segment == "." || segment == ".."
}

// tokens checks a list of header names or methods (RFC 9110, section 5.6.2).
func (s section) tokens(list []string, what string) {
	for i, text := range list {
		if !tokenForm.MatchString(text) {
			s.item(i).refuse("%s is not a %s: write letters, digits and -", s.item(i).written(), what)
		}
	}
}

// methods checks a list of request methods; they are case-sensitive (RFC 9110, section 9.1).
func (s section) methods(list []string) {
	s.tokens(list, "method")
	for i, method := range list {
		if upper := strings.ToUpper(method); upper != method {
			s.item(i).refuse("%s is not in upper case, as methods are: did you mean %q?", s.item(i).written(), upper)
		}
		if method == "CONNECT" || method == "TRACE" {
			s.item(i).refuse("%s is refused on every route: remove it", s.item(i).written())
		}
	}
}

// hosts checks what a route's Host header is compared with.
func (s section) hosts(list []string) {
	for i, host := range list {
		if !validHost(strings.TrimPrefix(host, "*.")) || strings.Contains(host, ":") || strings.HasPrefix(host, "*.") && net.ParseIP(host[2:]) != nil {
			s.item(i).refuse("%s is not a host: write api.example.com or *.example.com, without a port", s.item(i).written())
		}
	}
}

// file checks that a file which the key names can be read; "" names none.
func (s section) file(path string) {
	for _, check := range s.checks {
		if path == "" || check.File == nil {
			continue
		}
		if err := check.File(path); err != nil {
			s.refuse("%v%s", err, LookedFor(err))
		}
	}
}

// folder checks that the folder of the key's file, which is to be written, is there.
func (s section) folder(path string) {
	for _, check := range s.checks {
		if check.Folder == nil {
			continue
		}
		if err := check.Folder(path); err != nil {
			s.refuse("the folder of the log file: %v%s", err, LookedFor(err))
		}
	}
}

// headerName checks a header that the gateway sets on requests to upstreams.
func (s section) headerName(name string) {
	switch {
	case !tokenForm.MatchString(name):
		s.refuse("%q is not a header's name: write one such as X-User-Id", name)
	case slices.Contains(reservedHeaders(), strings.ToLower(strings.ReplaceAll(name, "_", "-"))):
		s.refuse("%q belongs to HTTP or to the gateway itself: write another, such as X-User-Id", name)
	}
}

// reservedHeaders is what no setting may write: framing, hop-by-hop (RFC 9110, section 7.6.1), routing and tracing.
func reservedHeaders() []string {
	return []string{"host", "content-length", "content-type", "content-encoding", "connection", "keep-alive", "proxy-connection",
		"proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "expect", "authorization",
		"cookie", "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "x-original-url",
		"x-rewrite-url", "x-request-id", "traceparent", "tracestate"}
}

// distinctHeaders refuses names that upstreams can't tell apart: case doesn't count, and many read _ as -.
func distinctHeaders[V any](s section, headers map[string]V) {
	seen := map[string]string{}
	for _, name := range sortedKeys(headers) {
		folded := foldHeader(name)
		if other, ok := seen[folded]; ok {
			s.at(name).refuse("%q is the same header as %q: remove one", name, other)
		}
		seen[folded] = name
	}
}

// foldHeader is the same text for two names that servers take for the same header.
func foldHeader(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "-")) }

func sameHeader(a, b string) bool { return foldHeader(a) == foldHeader(b) }

// texts refuses empty items.
func (s section) texts(list []string, what string) {
	for i, text := range list {
		if strings.TrimSpace(text) == "" || strings.ContainsFunc(text, unicode.IsControl) {
			s.item(i).refuse("%s is not %s: write one, or remove the item", s.item(i).written(), what)
		}
	}
}

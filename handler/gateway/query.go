package gateway

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// QueryError says that a Query is no request that a client could send.
type QueryError struct{ Problem string }

func (e *QueryError) Error() string { return e.Problem }

func wrongQuery(format string, args ...any) error {
	return &QueryError{fmt.Sprintf(format, args...)}
}

// unknownClient is an address for documentation (RFC 5737), which no list names.
func unknownClient() netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, 1}) }

// request is the request as the server would hand it to the gateway.
func (q Query) request() (*http.Request, error) {
	scheme, host, target, err := q.split()
	if err != nil {
		return nil, err
	}
	parsed, err := url.ParseRequestURI(target)
	if err != nil || strings.ContainsAny(target, " \t\r\n") || target == "" {
		return nil, wrongQuery("the URL %q can't stand in a request: write a path such as /order/42, or a whole URL", withoutQuery(q.URL))
	}
	r := &http.Request{
		Method: cmp.Or(q.Method, http.MethodGet), URL: parsed, RequestURI: target, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Body: http.NoBody, Host: host,
	}
	if !httpguts.ValidHeaderFieldName(r.Method) { // both are tokens (RFC 9110 section 5.6.2)
		return nil, wrongQuery("%q is not a method", q.Method)
	}
	if scheme == "https" {
		r.TLS = &tls.ConnectionState{}
	}
	client := q.ClientIP
	if !client.IsValid() {
		client = unknownClient()
	}
	r.RemoteAddr = net.JoinHostPort(client.String(), "1")
	if err := q.setHeader(r); err != nil {
		return nil, err
	}
	return r.WithContext(context.Background()), nil
}

// withoutQuery is a URL as an error shows it: its query may have a token in it.
func withoutQuery(url string) string {
	if before, _, has := strings.Cut(url, "?"); has {
		return before + "?…"
	}
	return url
}

// split takes a whole URL apart. What follows the host is left as it is written.
func (q Query) split() (scheme, host, target string, err error) {
	if strings.HasPrefix(q.URL, "/") || q.URL == "*" {
		return "http", "localhost", q.URL, nil
	}
	scheme, rest, absolute := strings.Cut(q.URL, "://")
	if scheme = strings.ToLower(scheme); !absolute || scheme != "http" && scheme != "https" {
		return "", "", "", wrongQuery("the URL %q is neither a path such as /order/42 nor begins with http:// or https://", withoutQuery(q.URL))
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, target = rest[:end], rest[end:]
	target, _, _ = strings.Cut(target, "#") // no client sends it
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return scheme, host, target, nil
}

func (q Query) setHeader(r *http.Request) error {
	for _, name := range slices.Sorted(maps.Keys(q.Headers)) {
		value := strings.Trim(q.Headers[name], " \t")
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return wrongQuery("the header %q, or its value, can't stand in a request", name)
		}
		canonical := http.CanonicalHeaderKey(name)
		if canonical == "Host" {
			r.Host = value
			continue
		}
		if len(r.Header[canonical]) > 0 {
			return wrongQuery("the header %s is there twice", canonical)
		}
		r.Header[canonical] = []string{value}
	}
	if q.Token != "" {
		if len(r.Header["Authorization"]) > 0 {
			return wrongQuery("there is a token, and an Authorization header too: leave one out")
		}
		if !httpguts.ValidHeaderFieldValue(q.Token) {
			return wrongQuery("the token can't stand in a header")
		}
		r.Header["Authorization"] = []string{"Bearer " + q.Token}
	}
	if length := r.Header.Get("Content-Length"); length != "" {
		size, err := strconv.ParseInt(length, 10, 64)
		if err != nil || size < 0 {
			return wrongQuery("the Content-Length %q is no number of bytes", length)
		}
		r.ContentLength = size
	}
	return nil
}

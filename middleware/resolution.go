package middleware

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/route"
)

// resolution finds the route of a request and puts it, with its upstream, into
// the exchange. What can't be forwarded safely is refused here, on every route:
// the path is neither cleaned nor decoded, because the one that is matched must
// be the one that is forwarded.
func resolution(table *route.Table, routes []Route) Stage {
	res := &resolver{table: table, routes: routes}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if res.found(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}
}

type resolver struct {
	table  *route.Table
	routes []Route
}

// found says whether a request has a route; it answers one that has none.
func (res *resolver) found(w http.ResponseWriter, r *http.Request) bool {
	ex := exchange.From(r.Context())
	p := res.resolve(ex, r)
	if p != nil {
		ex.Refuse(w, *p)
	}
	return p == nil
}

const methods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"

func (res *resolver) resolve(ex *exchange.Exchange, r *http.Request) *problem.Problem {
	host, hostOK := route.CanonicalHost(r.Host)
	if r.Host == "" && !r.ProtoAtLeast(1, 1) {
		hostOK = true // HTTP/1.0 has no Host
	}
	ex.Host = host
	path, targetOK := rawPath(r)
	ex.RawPath = path
	switch {
	case r.Method == http.MethodConnect, r.Method == http.MethodTrace:
		return &problem.Problem{Code: problem.MethodNotAllowed, Detail: "This gateway doesn't serve the method.", Allow: methods, Close: true}
	case !httpguts.ValidHeaderFieldName(r.Method): // which is a token, as a method is (RFC 9110 section 9.1)
		return badRequest("The method isn't a token.")
	case !isPrintable(r.Header.Get("Upgrade")):
		return badRequest("The Upgrade header isn't well formed.")
	case ex.TwoFramings:
		return &problem.Problem{Code: problem.BadRequest, Detail: "The request has a Content-Length and a Transfer-Encoding.", Close: true}
	case !hostOK:
		return badRequest("The Host header isn't a valid host name.")
	case !targetOK:
		return badRequest("The request target must be a path, without a fragment.")
	case hasBreak(r.URL.RawQuery):
		return badRequest("The query has a space or a control character.")
	case r.ProtoMajor == 2 && !isLength(r.Header["Content-Length"]):
		return badRequest("The Content-Length isn't a number, or there is more than one.")
	case len(r.Header["Authorization"]) > 1:
		return badRequest("There is more than one Authorization header.")
	case len(r.Header["Origin"]) > 1: // one would be judged and another answered
		return badRequest("There is more than one Origin header.")
	}
	fault := route.CheckPath(path, false)
	if fault != route.Clean && !fault.Unusual() {
		return badRequest("The path can't be forwarded: " + fault.String() + ".")
	}
	index, status, allowed := res.match(host, path, r)
	if fault != route.Clean && (index < 0 || !res.routes[index].AllowUnusualPath) {
		return badRequest("The path can't be forwarded: " + fault.String() + ".")
	}
	switch status {
	case route.NotFound:
		return &problem.Problem{Code: problem.NoRoute, Detail: "No route of this gateway matches the request."}
	case route.MethodNotAllowed:
		return &problem.Problem{Code: problem.MethodNotAllowed, Detail: "The route doesn't serve the method.", Allow: strings.Join(allowed, ", ")}
	}
	found := &res.routes[index]
	ex.RouteIndex, ex.Route, ex.Upstream, ex.Observer = index, found.Name, found.Upstream, found.Observer
	return nil
}

// isPrintable says whether s is visible ASCII and spaces.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isLength says whether the length of a body is one number, or isn't told. Over HTTP/1
// net/http has looked at it; over HTTP/2 it takes what is no number for no body (RFC 9113
// section 8.1.1).
func isLength(values []string) bool {
	if len(values) == 0 {
		return true
	}
	_, err := strconv.ParseUint(values[0], 10, 63)
	return len(values) == 1 && err == nil
}

func badRequest(detail string) *problem.Problem {
	return &problem.Problem{Code: problem.BadRequest, Detail: detail}
}

// match finds the route. A preflight speaks for the method that it asks about,
// and the route of that method answers it, also when the route itself doesn't
// list OPTIONS.
func (res *resolver) match(host, path string, r *http.Request) (int, route.Status, []string) {
	if isPreflight(r) {
		asked := res.table.Match(host, path, r.Header.Get("Access-Control-Request-Method"), r.Header)
		if asked.Status == route.Found && res.hasCORS(asked.Index) {
			return asked.Index, route.Found, nil
		}
		if asked.Status != route.Found {
			if index := res.table.MatchAnyMethod(host, path, r.Header, res.hasCORS); index >= 0 {
				return index, route.Found, nil
			}
		}
	}
	m := res.table.Match(host, path, r.Method, r.Header)
	return m.Index, m.Status, m.Allowed
}

func (res *resolver) hasCORS(index int) bool { return res.routes[index].CORS != nil }

// hasBreak says whether a query has what would end the request line of HTTP/1, or
// the line (RFC 9112 section 3). HTTP/2 can carry it.
func hasBreak(query string) bool {
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c == 0x7f {
			return true
		}
	}
	return false
}

// rawPath returns the path of the request target as it came over the wire, and
// whether the target is one that can be forwarded: origin-form, or the
// absolute-form of a request to a proxy (RFC 9112 section 3.2).
func rawPath(r *http.Request) (string, bool) {
	target := r.RequestURI
	if strings.IndexByte(target, '#') >= 0 {
		return target, false
	}
	if !strings.HasPrefix(target, "/") {
		scheme, rest, absolute := strings.Cut(target, "://")
		if !absolute || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
			return target, false
		}
		start := strings.IndexAny(rest, "/?")
		if start < 0 {
			start = len(rest)
		}
		if strings.IndexByte(rest[:start], '@') >= 0 {
			return target, false
		}
		target = rest[start:]
	}
	path, _, _ := strings.Cut(target, "?")
	if path == "" {
		path = "/"
	}
	return path, true
}

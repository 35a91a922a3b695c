package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"gatehouse/helper/config"
	"gatehouse/helper/exchange"
	"gatehouse/helper/explain"
	"gatehouse/helper/route"
)

// Query is a request that is only asked about.
type Query struct {
	Method  string            // "": GET
	URL     string            // a path with or without a query, or a whole URL
	Headers map[string]string // Host among them, unless the URL has one
	Token   string            // sent as Authorization: Bearer
	Claims  map[string]any    // those of a token, in place of one; nil: none
	APIKey  string            // the id of an API key, in place of the key
	// ClientIP is the other end of the connection; the zero Addr stands for a
	// client of which nothing is known, 192.0.2.1 (RFC 5737).
	ClientIP netip.Addr
}

// Explain says what would become of a request at this moment, and why. It sends
// the request through the very stages that serve requests; nothing is consumed,
// counted or logged by that, and no backend is asked. Its error is a *QueryError.
func (g *Gateway) Explain(q Query) (*explain.Report, error) {
	r, err := q.request()
	if err != nil {
		return nil, err
	}
	s := g.enter()
	defer s.release()
	ex, r := exchange.Begin(&answerHead{header: make(http.Header)}, r, 0)
	defer ex.End()
	report := &explain.Report{
		Assumed: explain.Caller{Claims: q.Claims, APIKey: q.APIKey},
		Limits:  []explain.Limit{}, Filters: []explain.Filter{}, Backends: []explain.Backend{},
	}
	ex.Explain, ex.Observer = report, g.unmatched
	ex.Client = s.clients.Resolve(r.RemoteAddr, r.Header)
	g.identify(ex, r.Header)
	ex.Spans = nil // there is nothing to trace
	if ex.RequestID == ex.TraceID {
		ex.RequestID = explain.Fresh
	}
	ex.Clientward.Set("X-Request-Id", ex.RequestID)
	s.explained.ServeHTTP(&ex.Writer, r)

	report.Request = explain.Request{Method: r.Method, Host: ex.Host, Path: ex.RawPath, Query: s.access.Redact(r.URL.RawQuery), ClientIP: ex.Client.String()}
	if report.Forward != nil {
		report.Forward.Query = s.access.Redact(report.Forward.RawQuery)
	}
	report.Candidates = s.candidates(ex, r)
	report.Answer = answerOf(ex, report)
	if ex.Route != exchange.None {
		s.describe(ex, r, report)
	}
	return report, nil
}

// answerHead takes the head of an answer.
type answerHead struct{ header http.Header }

func (a *answerHead) Header() http.Header       { return a.header }
func (*answerHead) Write(p []byte) (int, error) { return len(p), nil }
func (*answerHead) WriteHeader(int)             {}

// answerOf is what the client would get, as far as the gateway decides it.
func answerOf(ex *exchange.Exchange, report *explain.Report) explain.Answer {
	a := explain.Answer{
		Forwarded: report.Forward != nil && ex.Code == "", Status: ex.Status(), Code: ex.Code, Detail: report.Answer.Detail,
		Remedy: explain.Remedy(ex.Code), Headers: []explain.Header{},
	}
	header := ex.Writer.Header()
	if a.Forwarded {
		a.Status = 0
		ex.Clientward.Apply(header)
	}
	header.Del("Content-Length") // of a body that names another trace each time
	if len(header["Content-Type"]) == 0 {
		header.Del("Content-Type") // there as nil, for net/http
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		a.Headers = append(a.Headers, explain.Header{Name: name, Value: strings.Join(header[name], ", ")})
	}
	return a
}

// candidates are the routes for the request's path and host.
func (s *snapshot) candidates(ex *exchange.Exchange, r *http.Request) []explain.Candidate {
	method, preflight := r.Method, r.Header.Get("Access-Control-Request-Method")
	if method == http.MethodOptions && preflight != "" && r.Header.Get("Origin") != "" {
		method = preflight
	}
	list := []explain.Candidate{}
	for _, c := range s.table.Candidates(ex.Host, ex.RawPath, method, r.Header) {
		info := s.routes[c.Index]
		one := explain.Candidate{Route: info.Name, Path: info.Path, Why: c.Verdict.String()}
		one.Wins = ex.Route != exchange.None && c.Index == ex.RouteIndex
		switch {
		case one.Wins:
			one.Why = route.Wins.String()
		case c.Verdict == route.Wins && ex.Code != "":
			one.Why = "matches, but the request is refused before that counts"
		case c.Verdict == route.Wins:
			one.Why = "has no cors, so it doesn't answer a preflight"
		}
		list = append(list, one)
	}
	return list
}

// describe adds what the configuration says of the request's route.
func (s *snapshot) describe(ex *exchange.Exchange, r *http.Request, report *explain.Report) {
	c := &s.config.Routes[ex.RouteIndex]
	up := s.config.Upstreams[ex.Upstream]
	report.Route, report.Upstream = ex.Route, ex.Upstream
	if len(c.Split) > 0 {
		report.Split = s.routes[ex.RouteIndex].Upstream
	}
	report.CORS = describeCORS(c, r, ex)
	report.Auth = describeAuth(c, ex, report)
	for _, item := range c.Filters[min(len(report.Filters), len(c.Filters)):] {
		name, _, _ := strings.Cut(item, ":")
		report.Filters = append(report.Filters, explain.Filter{Name: name})
	}
	report.Balance = up.Balance
	if up.HashBy != "" {
		report.Balance += " by " + up.HashBy
	}
	if (up.Balance == "least_requests" || up.Balance == "random_two") && len(report.Backends) > 1 {
		report.Undecided = append(report.Undecided, "which backend it is: "+up.Balance+" draws lots")
	}
	report.Timeouts = &explain.Timeouts{
		Request: c.Timeout.String(), Connect: up.Timeouts.Connect.String(), ResponseHeader: up.Timeouts.ResponseHeader.String(),
		Idle: up.Timeouts.Idle.String(), Attempts: up.Retry.Attempts,
	}
	if c.Mirror.Upstream != "" && c.Mirror.Percent > 0 {
		report.Mirror = fmt.Sprintf("%v%% of the requests are copied to %s", c.Mirror.Percent, c.Mirror.Upstream)
	}
}

func describeCORS(c *config.Route, r *http.Request, ex *exchange.Exchange) string {
	preflight := r.Method == http.MethodOptions && ex.Status() == http.StatusNoContent && ex.Code == ""
	allowed := ex.Writer.Header().Get("Access-Control-Allow-Origin") != ""
	switch {
	case len(c.CORS.AllowedOrigins) == 0:
		return "none"
	case r.Header.Get("Origin") == "":
		return "not asked for: the request has no Origin"
	case preflight && allowed:
		return "the preflight is answered, and allows what it asks for"
	case preflight:
		return "the preflight is answered, and allows nothing: origin, method or headers aren't among those of the route"
	case allowed:
		return "the origin is allowed"
	}
	return "the origin isn't allowed: a browser keeps the answer from the page"
}

// describeAuth is what the route asks of its callers, and who this one is.
func describeAuth(c *config.Route, ex *exchange.Exchange, report *explain.Report) *explain.Auth {
	a := report.Auth
	if a == nil {
		a = &explain.Auth{}
	}
	a.Required, a.Scopes, a.Claims, a.Assumed = c.Auth, c.Scopes, c.Claims, report.Assumed.Given()
	if p := ex.Principal; p != nil {
		a.Provider, a.KeyID, a.Subject, a.Client, a.Granted, a.Plan = p.Provider, p.KeyID, p.Subject, p.Client, p.Scopes, p.Plan
	}
	return a
}

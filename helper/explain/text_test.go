package explain_test

import (
	"testing"
	"time"

	"gatehouse/helper/explain"
	"gatehouse/helper/limit"
	"gatehouse/helper/problem"
)

func TestAReportInWords(t *testing.T) {
	r := &explain.Report{
		Request:    explain.Request{Method: "GET", Host: "api.test", Path: "/a", Query: "b=\x1b[2J", ClientIP: "192.0.2.1"},
		Candidates: []explain.Candidate{{Route: "longer", Path: "/a", Wins: true, Why: "matches"}, {Route: "all", Path: "/", Why: "is less specific"}},
		Route:      "longer", Upstream: "next", Split: "order:9,next:1", CORS: "none", Balance: "hash by subject",
		Auth: &explain.Auth{
			Required: "jwt", Scopes: []string{"a", "b|c"}, Claims: map[string]any{"tenant": "acme"}, Provider: "identity", KeyID: "1", Subject: "ada", Granted: []string{"a"},
		},
		Backends: []explain.Backend{{URL: "http://a", Address: "10.0.0.1", Picked: true}, {URL: "http://b", InFlight: 3, Why: "draining: an operator took it out"}},
		Forward:  &explain.Forward{Method: "GET", Host: "a", Path: "/x", Query: "b", Added: []explain.Header{{Name: "X-User-Id", Value: "ada"}}, Removed: []string{"X-Key"}},
		Timeouts: &explain.Timeouts{Request: "30s", Connect: "2s", ResponseHeader: "15s", Idle: "1m", Attempts: 2}, Mirror: "5% of the requests are copied to b",
		Answer: explain.Answer{Forwarded: true, Headers: []explain.Header{{Name: "X-Request-Id", Value: explain.Fresh}}},
	}
	r.NoteLimit("route:a", "all requests", limit.Demand{Decision: limit.Decision{Allowed: true, Limit: 5, Remaining: 4, Reset: time.Second}})
	r.NoteLimit("shadow:client_ip:a", "address 192.0.2.1", limit.Demand{Shadow: true, Decision: limit.Decision{Limit: 5, Reset: time.Minute, RetryAfter: time.Second}})
	r.NoteLimit("quota:a", "subject ada", limit.Demand{Unasked: true, Decision: limit.Decision{Allowed: true, Limit: 5, Remaining: 4, Reset: 1234567 * time.Nanosecond}})
	r.NoteBreaker("half-open", true, 0)
	r.NoteFilter("compress", true)
	r.NoteFilter("own", false)
	const want = `request     GET /a?b=�[2J, host api.test, from 192.0.2.1
route       > longer  /a matches
route       - all     / is less specific
upstream    next, by the route's split order:9,next:1
cors        none
limit       route:a: allows it; 4 of 5 left after it, full in 1s; counted: all requests
limit       shadow:client_ip:a: would refuse it, but is in shadow mode; 0 of 5 left, full in 1m0s, wait 1s; counted: address 192.0.2.1
breaker     half-open, lets the request through
auth        wants jwt, scopes a b|c, claims {"tenant":"acme"}
auth        provider identity, key 1, subject ada, scopes a
quota       quota:a: kept in Redis, which wasn't asked; it holds 5; counted: subject ada
filter      compress
filter      own: undecided
backend     > http://a at 10.0.0.1, 0 in flight
backend     - http://b, 3 in flight; draining: an operator took it out
balance     hash by subject
forward     GET /x?b, host a
            + X-User-Id: ada
            - X-Key
timeouts    request 30s, connect 2s, response header 15s, idle 1m; 2 attempts at most
mirror      5% of the requests are copied to b
undecided   what the filter own does: only a request shows it, and it is taken to let this one pass
answer      forwarded to next: the upstream's
            + X-Request-Id: (a new one)
`
	if got := r.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Every refusal that can be explained has a remedy.
func TestRemedies(t *testing.T) {
	elsewhere := map[problem.Code]bool{ // what only the upstream or the connection shows
		problem.ClientClosed: true, problem.UpstreamUnreachable: true, problem.UpstreamReset: true, problem.UpstreamBadResponse: true,
		problem.UpstreamTimeout: true, problem.Draining: true,
	}
	for _, code := range problem.Codes() {
		if (explain.Remedy(code) == "") != elsewhere[code] {
			t.Errorf("the remedy of %s is %q", code, explain.Remedy(code))
		}
	}
	if explain.Remedy("") != "" {
		t.Error("there is a remedy for what isn't a refusal")
	}
}

package explain

import (
	"net/http"

	"gatehouse/helper/problem"
)

// Report is what would become of a request, and why. Where a part is absent, the
// request wouldn't have come as far as that.
type Report struct {
	Request    Request     `json:"request"`
	Candidates []Candidate `json:"candidates"` // the routes for this path and host, the most specific first
	Route      string      `json:"route,omitempty"`
	Upstream   string      `json:"upstream,omitempty"`
	Split      string      `json:"split,omitempty"` // what Upstream was chosen from: NAME:WEIGHT,…
	CORS       string      `json:"cors,omitempty"`
	Limits     []Limit     `json:"limits"`
	Breaker    *Breaker    `json:"breaker,omitempty"`
	Auth       *Auth       `json:"authentication,omitempty"`
	Filters    []Filter    `json:"filters"`
	Balance    string      `json:"balance,omitempty"` // how a backend is picked
	Backends   []Backend   `json:"backends"`
	Forward    *Forward    `json:"forward,omitempty"`
	Timeouts   *Timeouts   `json:"timeouts,omitempty"`
	Mirror     string      `json:"mirror,omitempty"`
	Answer     Answer      `json:"answer"`
	Undecided  []string    `json:"undecided,omitempty"` // what can't be known without sending the request

	// Assumed is who the request is from, whatever it carries.
	Assumed Caller `json:"-"`
}

// Fresh stands for a value that each request gets anew.
const Fresh = "(a new one)"

// Caller stands in for credentials: the claims of a token, or the id of an API key.
type Caller struct {
	Claims map[string]any
	APIKey string
}

// Given says whether there is such a caller.
func (c Caller) Given() bool { return c.Claims != nil || c.APIKey != "" }

// Request is what was asked about.
type Request struct {
	Method   string `json:"method"`
	Host     string `json:"host"`
	Path     string `json:"path"` // as it would come over the wire
	Query    string `json:"query,omitempty"`
	ClientIP string `json:"client_ip"`
}

// Candidate is a route for the request's path and host.
type Candidate struct {
	Route string `json:"route"`
	Path  string `json:"path"`
	Wins  bool   `json:"wins"`
	Why   string `json:"why"`
}

// Limit is a limit that the request counts for.
type Limit struct {
	Name       string `json:"name"`
	Key        string `json:"key"` // who counts together
	Allowed    bool   `json:"allowed"`
	Shadow     bool   `json:"shadow,omitempty"` // it refuses nothing
	Burst      int    `json:"burst"`
	Remaining  int    `json:"remaining"`             // after this request
	Reset      string `json:"reset"`                 // until the bucket is full
	RetryAfter string `json:"retry_after,omitempty"` // until it would be allowed
	Unasked    bool   `json:"unasked,omitempty"`     // the bucket is in Redis, which wasn't asked: the state is that of a full one
}

// Breaker is the upstream's circuit breaker.
type Breaker struct {
	State      string `json:"state"`
	Admits     bool   `json:"admits"`
	RetryAfter string `json:"retry_after,omitempty"`
}

// Auth is what the route asks of its callers, and who this one is.
type Auth struct {
	Required string         `json:"required"` // none, jwt, api_key or any
	Scopes   []string       `json:"required_scopes,omitempty"`
	Claims   map[string]any `json:"required_claims,omitempty"`
	Assumed  bool           `json:"assumed,omitempty"` // the caller was given in place of credentials
	Provider string         `json:"provider,omitempty"`
	KeyID    string         `json:"key_id,omitempty"`
	Subject  string         `json:"subject,omitempty"`
	Client   string         `json:"client,omitempty"` // an API key's id
	Granted  []string       `json:"granted_scopes,omitempty"`
	Plan     string         `json:"plan,omitempty"`
	Why      string         `json:"why,omitempty"` // it was refused
}

// Filter is one of the route's filters.
type Filter struct {
	Name      string `json:"name"`
	Reached   bool   `json:"reached"`
	Undecided bool   `json:"undecided,omitempty"` // only a real request shows what it does
}

// Backend is one backend of the upstream, and whether it can be picked.
type Backend struct {
	URL      string `json:"url"`
	Address  string `json:"address,omitempty"`
	InFlight int64  `json:"in_flight"`
	Picked   bool   `json:"picked"`
	Why      string `json:"why,omitempty"` // it can't be picked
}

// Forward is the request as the backend would get it.
type Forward struct {
	Method  string   `json:"method"`
	Host    string   `json:"host"`
	Path    string   `json:"path"`
	Query   string   `json:"query,omitempty"`
	Added   []Header `json:"added"`   // headers that it has and the client's request hasn't, or with another value
	Removed []string `json:"removed"` // headers that the client's request has and it hasn't

	RawQuery string      `json:"-"` // with what Query masks
	Header   http.Header `json:"-"` // all of them
}

// Header is a header of a request or an answer.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Timeouts are those of the route and its upstream; 0s is none.
type Timeouts struct {
	Request        string `json:"request"`
	Connect        string `json:"connect"`
	ResponseHeader string `json:"response_header"`
	Idle           string `json:"idle"`
	Attempts       int    `json:"attempts"` // tries in all
}

// Answer is what the client would get.
type Answer struct {
	Forwarded bool         `json:"forwarded"`        // the upstream answers
	Status    int          `json:"status,omitempty"` // 0 where the upstream decides
	Code      problem.Code `json:"code,omitempty"`
	Detail    string       `json:"detail,omitempty"`
	Remedy    string       `json:"remedy,omitempty"`
	Headers   []Header     `json:"headers"` // what the gateway sets
}

package config

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// Upstream is one service: a set of backends and how they are called.
type Upstream struct {
	// Short for one backend. Load moves it to backends and leaves it empty. Default: "".
	URL string `yaml:"url"`
	// The service's addresses. Default: [], one is required.
	Backends []Backend `yaml:"backends"`
	// A backend's host name stands for every address it has, looked up again each 10s. Default: false.
	Resolve bool `yaml:"resolve"`
	// round_robin (weights count), least_requests, random_two or hash. Default: round_robin.
	Balance string `yaml:"balance"`
	// For hash: client_ip, subject, header:NAME or cookie:NAME. Default: "".
	HashBy string `yaml:"hash_by"`
	// Active checks. Default: off, no path is named.
	Health Health `yaml:"health"`
	// Passing over a backend that keeps failing. Default: each key's own.
	Eject Eject `yaml:"eject"`
	// Circuit breaker. Default: each key's own.
	Breaker Breaker `yaml:"breaker"`
	// Limit of requests in flight. Default: off.
	Concurrency Concurrency `yaml:"concurrency"`
	// How long the upstream may take. Default: each key's own.
	Timeouts UpstreamTimeouts `yaml:"timeouts"`
	// Trying another backend. Default: each key's own.
	Retry Retry `yaml:"retry"`
	// Host header of the request: backend (its URL's host), client (the one that came in), or a literal name. Default: backend.
	Host string `yaml:"host"`
	// TLS to the backends. Default: the system's roots.
	TLS UpstreamTLS `yaml:"tls"`
	// Connections to each backend. Default: each key's own.
	Connections Connections `yaml:"connections"`
	// One token bucket for the whole upstream. Default: off.
	Limit Limit `yaml:"limit"`
	// Short for one route to this upstream: a route's keys but name, upstream and split; its path defaults to /NAME. Load moves it to routes. Default: absent.
	Route *Route `yaml:"route"`
}

// Backend is one address of an upstream.
type Backend struct {
	// http://, https:// or h2c:// with a host, and a path to put in front of the request's, if any; or unix:/path.sock. Default: none, required.
	URL string `yaml:"url"`
	// Share of the requests against the other backends' weights; 0: none. Default: 1.
	Weight int `yaml:"weight"`
}

// Health is the section `health` of an upstream.
type Health struct {
	// Path that is asked for with GET; empty: no active checks. Default: "".
	Path string `yaml:"path"`
	// Between two checks of a backend. Default: 5s.
	Interval Duration `yaml:"interval"`
	// For one check. Default: 1s.
	Timeout Duration `yaml:"timeout"`
	// Good checks in a row that bring a backend back. Default: 2.
	HealthyAfter int `yaml:"healthy_after"`
	// Bad checks in a row that take it out. Default: 3.
	UnhealthyAfter int `yaml:"unhealthy_after"`
	// Statuses of a good check. Default: 200-399.
	ExpectStatus Statuses `yaml:"expect_status"`
}

// Eject is the section `eject` of an upstream.
type Eject struct {
	// Failures in a row (connection errors, breaker.statuses) after which a backend is passed over; 0: off. Default: 5.
	Failures int `yaml:"failures"`
	// Until its one trial request. Default: 30s.
	For Duration `yaml:"for"`
	// Never more than this share of the backends, in percent. Default: 50.
	MaxPercent int `yaml:"max_percent"`
}

// Breaker is the section `breaker` of an upstream.
type Breaker struct {
	// Failures in a row that open it; 0: off. Default: 5.
	Failures int `yaml:"failures"`
	// How long it refuses everything before the first trial. Default: 30s.
	OpenFor Duration `yaml:"open_for"`
	// Trials at a time while half-open, and good trials that close it. Default: 1.
	HalfOpenRequests int `yaml:"half_open_requests"`
	// Statuses of the upstream that are failures. Default: 500-599.
	Statuses Statuses `yaml:"statuses"`
}

// Concurrency is the section `concurrency` of an upstream.
type Concurrency struct {
	// Requests in flight past which a further one gets 503 at once; 0: no limit. Default: 0.
	Max int `yaml:"max"`
}

// UpstreamTimeouts is the section `timeouts` of an upstream.
type UpstreamTimeouts struct {
	// To connect, with TLS. Default: 2s.
	Connect Duration `yaml:"connect"`
	// From the request to the header of the answer; 0s: none. Default: 15s.
	ResponseHeader Duration `yaml:"response_header"`
	// For the whole request; 0s: none (streams). Default: 30s.
	Request Duration `yaml:"request"`
	// Without a byte in either direction; 0s: none. Default: 60s.
	Idle Duration `yaml:"idle"`
}

// Retry is the section `retry` of an upstream.
type Retry struct {
	// Tries in all; 1: no retry. Default: 2.
	Attempts int `yaml:"attempts"`
	// What is tried again: connect, reset, timeout (no response header in time) and statuses. Default: [connect, reset, 502, 503, 504].
	On []string `yaml:"on"`
	// Methods that are tried again. Default: [GET, HEAD, OPTIONS, PUT, DELETE].
	Methods []string `yaml:"methods"`
	// A refused connection is tried again whatever the method. Default: false.
	UnsafeOnConnect bool `yaml:"unsafe_on_connect"`
	// Retries per request over 10 s; 3 a second are always allowed. Default: 0.2.
	Budget float64 `yaml:"budget"`
	// Before the next try. Default: 25ms.
	Backoff Duration `yaml:"backoff"`
}

// UpstreamTLS is the section `tls` of an upstream.
type UpstreamTLS struct {
	// PEM file of the authorities that are trusted. Default: "", the system's.
	CA string `yaml:"ca"`
	// PEM file of the certificate that the gateway shows. Default: "".
	Cert string `yaml:"cert"`
	// PEM file of its private key. Default: "".
	Key string `yaml:"key"`
	// Name that is sent by SNI and checked in the certificate. Default: "", the URL's host.
	ServerName string `yaml:"server_name"`
	// Don't check the backend's certificate: for development. Default: false.
	InsecureSkipVerify bool `yaml:"insecure_skip_verify"`
}

// Connections is the section `connections` of an upstream.
type Connections struct {
	// Idle connections that are kept for a backend. Default: 512.
	MaxIdle int `yaml:"max_idle"`
	// How long one is kept. Default: 90s.
	IdleTimeout Duration `yaml:"idle_timeout"`
	// Connections to a backend, idle or not; 0: no limit. Default: 0.
	Max int `yaml:"max"`
	// auto: a shorter way for requests over HTTP/1.1 without a body, where max is 0; standard: net/http's for all. Default: auto.
	Lane string `yaml:"lane"`
}

// Limit is a token bucket.
type Limit struct {
	// Sustained rate, such as 10/s, 600/m or 5000/h; 0: no limit. Default: 0.
	Rate Rate `yaml:"rate"`
	// Requests that may come at once. Default: one second's worth, at least 1.
	Burst int `yaml:"burst"`
}

func (u *Upstream) validate(at section) {
	u.validateBackends(at)
	at.at("balance").oneOf(u.Balance, "round_robin", "least_requests", "random_two", "hash")
	switch kind, name, _ := strings.Cut(u.HashBy, ":"); {
	case (u.Balance == "hash") != (u.HashBy != ""):
		at.at("hash_by").refuse("and balance: hash need each other: write both or neither")
	case u.HashBy != "" && u.HashBy != "client_ip" && u.HashBy != "subject" && (kind != "header" && kind != "cookie" || !tokenForm.MatchString(name)):
		at.at("hash_by").refuse("%s is nothing to hash: write client_ip, subject, header:NAME or cookie:NAME", at.at("hash_by").written())
	}
	u.Health.validate(at.at("health"))
	at.at("eject").at("failures").atLeast(u.Eject.Failures, 0)
	at.at("eject").at("for").positive(u.Eject.For)
	at.at("eject").at("max_percent").within(float64(u.Eject.MaxPercent), 0, 100)
	at.at("breaker").at("failures").atLeast(u.Breaker.Failures, 0)
	at.at("breaker").at("open_for").positive(u.Breaker.OpenFor)
	at.at("breaker").at("half_open_requests").atLeast(u.Breaker.HalfOpenRequests, 1)
	at.at("concurrency").at("max").atLeast(u.Concurrency.Max, 0)
	at.at("timeouts").at("connect").positive(u.Timeouts.Connect)
	u.Retry.validate(at.at("retry"))
	if u.Host != "backend" && u.Host != "client" {
		host, port, err := net.SplitHostPort(u.Host)
		if err != nil {
			host, port = strings.Trim(u.Host, "[]"), ""
		}
		if !validHost(host) || !validPort(port) {
			at.at("host").refuse("%s is not a host: write backend, client, or a name such as api.example.com", at.at("host").written())
		}
	}
	u.TLS.validate(at.at("tls"))
	at.at("connections").at("max_idle").atLeast(u.Connections.MaxIdle, 0)
	at.at("connections").at("max").atLeast(u.Connections.Max, 0)
	at.at("connections").at("lane").oneOf(u.Connections.Lane, "auto", "standard")
	at.at("limit").bucket(u.Limit.Rate, u.Limit.Burst)
}

func (u *Upstream) validateBackends(at section) {
	list := at.at("backends")
	if len(u.Backends) == 0 {
		if !at.refused[at.at("url").key] {
			list.refuse("is empty: write url: http://host:8080, or a list of backends")
		}
		return
	}
	total, seen := 0, map[string]bool{}
	for i, backend := range u.Backends {
		item := list.item(i)
		where := item.at("url")
		if at.at("url").given() {
			where = at.at("url")
		}
		switch {
		case backend.URL == "":
			where.refuse("is needed: write a URL such as http://host:8080")
		case seen[backend.URL]:
			where.refuse("%s is listed twice: remove it, or give one of them more weight", where.written())
		default:
			where.backendURL(backend.URL)
		}
		seen[backend.URL] = true
		total += item.at("weight").weight(backend.Weight)
	}
	if total == 0 {
		list.refuse("have no weight but 0, so that none would get a request: write a weight of 1 or more")
	}
}

// maxWeight bounds the memory of a weighted rotation.
const maxWeight = 1000

// weight checks a weight, and returns what it adds to the others: one that is refused was meant as some.
func (s section) weight(value int) int {
	s.within(float64(value), 0, maxWeight)
	if s.refused[s.key] {
		return 1
	}
	return value
}

func (h *Health) validate(at section) {
	if h.Path != "" && !strings.HasPrefix(h.Path, "/") {
		at.at("path").refuse("%s doesn't begin with /: write a path such as /healthz", at.at("path").written())
	}
	at.at("interval").positive(h.Interval)
	at.at("timeout").positive(h.Timeout)
	at.at("healthy_after").atLeast(h.HealthyAfter, 1)
	at.at("unhealthy_after").atLeast(h.UnhealthyAfter, 1)
}

func (r *Retry) validate(at section) {
	at.at("attempts").atLeast(r.Attempts, 1)
	for i, reason := range r.On {
		status, err := strconv.Atoi(reason)
		if !slices.Contains([]string{"connect", "reset", "timeout"}, reason) && (err != nil || status < 400 || status > 599) {
			item := at.at("on").item(i)
			item.refuse("%s is no reason to retry: write connect, reset, timeout or a status from 400 to 599", item.written())
		}
	}
	at.at("methods").methods(r.Methods)
	at.at("budget").within(r.Budget, 0, 1)
}

func (t *UpstreamTLS) validate(at section) {
	if (t.Cert == "") != (t.Key == "") {
		at.refuse("has one of cert and key: write both or neither")
	}
	at.at("ca").file(t.CA)
	at.at("cert").file(t.Cert)
	at.at("key").file(t.Key)
	if t.ServerName != "" && !validHost(t.ServerName) {
		at.at("server_name").refuse("%s is not a host: write a name such as api.example.com", at.at("server_name").written())
	}
	if t.InsecureSkipVerify && (t.CA != "" || t.ServerName != "") {
		at.at("insecure_skip_verify").refuse("makes ca and server_name meaningless: remove it or them")
	}
}

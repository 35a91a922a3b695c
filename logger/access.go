package logger

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// AccessOptions says which requests the access log shows, and what of them.
type AccessOptions struct {
	Enabled     bool
	Sample      float64  // share of the answers 101, 2xx and 3xx that is logged, 0 to 1; an error always is
	Headers     []string // request headers that are logged besides, those with a credential as ***
	RedactQuery []string // query parameters whose values are shown as ***, in any spelling of the name
	// SecretHeaders are shown as *** like Authorization, Cookie and the others that always are: for example the
	// configured header of API keys.
	SecretHeaders []string
}

// Entry is one request as the access log shows it. Durations are how long something took, bytes are those of bodies.
type Entry struct {
	Time                               time.Time // when the request ended
	TraceID, Method, Host, Path, Query string    // Query without its question mark, as it came
	Route, Upstream, Backend           string
	Status                             int
	Code                               string // the reason code of an answer that the gateway made, or of one cut short
	Duration, UpstreamTime             time.Duration
	BytesIn, BytesOut                  int64
	ClientIP, Subject, Client, Limited string
	Attempts                           int
	Protocol, UserAgent                string
	Header                             http.Header // the inbound header, for AccessOptions.Headers; not changed
}

// Access writes the access log. It doesn't follow the Logger's level, so that no level can make a request invisible:
// Enabled and Sample are what it obeys.
type Access struct {
	logger  *Logger
	enabled bool
	sample  float64
	headers []loggedHeader
	redact  []string // in lower case
	lines   sync.Pool
}

type loggedHeader struct {
	name   string // in its canonical spelling
	secret bool
}

// NewAccess returns an access log that writes to l.
func NewAccess(l *Logger, o AccessOptions) *Access {
	a := &Access{logger: l, enabled: o.Enabled, sample: o.Sample}
	secret := map[string]bool{"Authorization": true, "Proxy-Authorization": true, "Cookie": true, "Set-Cookie": true, "X-Api-Key": true}
	for _, name := range o.SecretHeaders {
		secret[http.CanonicalHeaderKey(name)] = true
	}
	logged := make(map[string]bool)
	for _, name := range o.Headers {
		name = http.CanonicalHeaderKey(name)
		if !logged[name] {
			logged[name] = true
			a.headers = append(a.headers, loggedHeader{name, secret[name]})
		}
	}
	for _, name := range o.RedactQuery {
		a.redact = append(a.redact, strings.ToLower(name))
	}
	a.lines.New = func() any { return &line{access: a} }
	return a
}

// Enabled says whether any request is logged.
func (a *Access) Enabled() bool { return a.enabled }

// Log writes the line of one request: at level error from status 500 on, else info. It keeps neither e nor its header.
func (a *Access) Log(e *Entry) {
	if !a.enabled || !a.sampled(e) {
		return
	}
	l := a.lines.Get().(*line)
	l.entry = *e
	l.write()
	l.entry = Entry{}
	a.lines.Put(l)
}

// Redact returns a query as an access line shows it: clipped, and without the values of redacted parameters.
func (a *Access) Redact(query string) string { return redactQuery(query, a.redact) }

// sampled decides about requests that went well (an answer that was cut didn't, nor did a refused gRPC call, whatever the
// status) by a hash of the trace id, so that all gateways before a service log the same requests.
func (a *Access) sampled(e *Entry) bool {
	success := e.Code == "" && (e.Status >= 200 && e.Status < 400 || e.Status == http.StatusSwitchingProtocols)
	if !success || a.sample >= 1 {
		return true
	}
	return share(e.TraceID) < a.sample
}

// share maps a trace id to a number from 0 to below 1, evenly also where the ids are alike, as a client may choose them:
// FNV-1a, which hash/fnv doesn't have for strings, and MurmurHash3's finalizer.
func share(traceID string) float64 {
	h := uint64(14695981039346656037)
	for i := range len(traceID) {
		h = (h ^ uint64(traceID[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return float64(h>>11) / (1 << 53)
}

// line is an Entry on its way to the sink. It is pooled, with the memory that writing it takes.
type line struct {
	access *Access
	entry  Entry
	text   []byte
	second int64  // since 1970
	stamp  []byte // of the second, as appendTime needs it
}

func (l *line) write() {
	if l.access.logger.console {
		l.text = l.appendConsole(l.text[:0])
	} else {
		l.text = l.appendJSON(l.text[:0])
	}
	_, _ = l.access.logger.writer.Write(l.text) // it never fails
}

// headerValue returns what is shown of a header: nothing of a credential, and no redacted query parameter of a URL,
// such as a Referer's.
func (a *Access) headerValue(h loggedHeader, values []string) string {
	if h.secret {
		return mask
	}
	value := values[0]
	if len(values) > 1 {
		value = strings.Join(values, ", ")
	}
	return redactURL(value, a.redact)
}

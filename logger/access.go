package logger

import (
	"net/http"
	"time"
)

// AccessOptions says which requests the access log shows, and what of them.
type AccessOptions struct {
	Enabled       bool
	Sample        float64  // share of the answers 101, 2xx and 3xx that is logged, 0 to 1; an error always is
	Headers       []string // request headers that are logged besides
	RedactQuery   []string // query parameters whose values are not shown
	SecretHeaders []string // headers that are shown as *** besides Authorization, Cookie and their like
}

// Entry is one request as the access log shows it.
type Entry struct {
	TraceID, Method, Host, Path, Query string
	Route, Upstream, Backend           string
	Status                             int
	Code                               string
	Duration, UpstreamTime             time.Duration
	BytesIn, BytesOut                  int64
	ClientIP, Subject, Client, Limited string
	Attempts                           int
	Protocol, UserAgent                string
	Header                             http.Header // the inbound header, for AccessOptions.Headers
}

// Access writes the access log.
type Access struct{}

// NewAccess returns an access log that writes to l.
func NewAccess(l *Logger, o AccessOptions) *Access { return &Access{} }

// Log writes the line of one request.
func (a *Access) Log(e *Entry) {}

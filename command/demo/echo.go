package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	maxBody  = 1 << 20 // bytes of a request's body that are echoed
	maxDelay = time.Minute
)

// Seen is a request as it came over the wire, and an echo's answer.
type Seen struct {
	Service   string   `json:"service"`
	Method    string   `json:"method"`
	Target    string   `json:"target"` // the request-target (RFC 9112 section 3.2), byte for byte
	Protocol  string   `json:"protocol"`
	Host      string   `json:"host"`
	Headers   []string `json:"headers"` // the lines, as they were spelled and ordered, Host included
	Body      string   `json:"body"`
	Truncated bool     `json:"truncated,omitempty"` // the body was longer
}

// Echo is the handler of a service with this name, which answers with what it saw. Two query parameters provoke the
// gateway: status=503 answers with that status, and delay=2s waits so long before.
// Served by Serve it sees the header lines too.
func Echo(service string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil { // the request isn't whole, so there is nothing to echo
			http.Error(w, "the body broke off", http.StatusBadRequest)
			return
		}
		seen := Seen{
			Service:  service,
			Method:   r.Method,
			Target:   r.RequestURI,
			Protocol: r.Proto,
			Host:     r.Host,
			Headers:  headerLines(r),
			Body:     string(body[:min(len(body), maxBody)]),
		}
		if seen.Truncated = len(body) > maxBody; seen.Truncated {
			w.Header().Set("Connection", "close") // the rest is never read, and must not pass for the next request
		}
		if !pause(r) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(wantedStatus(r))
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(seen) // a caller that left is seen by the server
	})
}

// pause waits as long as the request asks for; false means that the caller has left.
func pause(r *http.Request) bool {
	wanted, err := time.ParseDuration(r.URL.Query().Get("delay"))
	if err != nil {
		return true
	}
	timer := time.NewTimer(min(wanted, maxDelay))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func wantedStatus(r *http.Request) int {
	status, err := strconv.Atoi(r.URL.Query().Get("status"))
	if err != nil || status < 200 || status > 599 {
		return http.StatusOK
	}
	return status
}

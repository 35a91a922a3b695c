package problem

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Problem is one answer that the gateway makes itself.
type Problem struct {
	Code   Code
	Status int    // 0: the code's own
	Detail string // for the client: what to do about it; never an upstream's address or a library's text

	RetryAfter   time.Duration // >0: sent as whole seconds, rounded up; 429 and 503 always send at least 1
	ProxyError   string        // RFC 9209 section 2.3 error type, where the upstream is at fault
	Authenticate string        // WWW-Authenticate, RFC 6750 section 3
	Allow        string        // RFC 9110 section 10.2.1, on 405
	Close        bool          // the connection can't be used again: part of the request is unread
}

// StatusCode is the status that Write answers with.
func (p Problem) StatusCode() int {
	if p.Status != 0 {
		return p.Status
	}
	return p.Code.Status()
}

// Write answers with the problem. It must be the first thing written to w.
// What an earlier stage put in w's header (CORS, RateLimit) stays.
func (p Problem) Write(w http.ResponseWriter, traceID string) {
	p.write(w, "urn:gatehouse:problem:"+string(p.Code), p.Code.Title(), traceID)
}

// WritePlain is Write for a request that has no trace and wasn't to be forwarded: the codes' titles are about those that
// were, so its type and title say no more than the status does (RFC 9457 section 4.2.1).
func (p Problem) WritePlain(w http.ResponseWriter) {
	p.write(w, "about:blank", http.StatusText(p.StatusCode()), "")
}

func (p Problem) write(w http.ResponseWriter, kind, title, traceID string) {
	status := p.StatusCode()
	h := w.Header()
	p.setHeader(h)
	h.Set("Content-Type", "application/problem+json")
	body, err := json.Marshal(struct {
		Type    string `json:"type"`
		Title   string `json:"title"`
		Status  int    `json:"status"`
		Code    Code   `json:"code"`
		Detail  string `json:"detail"`
		TraceID string `json:"trace_id,omitempty"`
	}{kind, title, status, p.Code, p.Detail, traceID})
	if err != nil { // strings and an int always marshal
		panic(err)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that left is seen by the server
}

// setHeader sets what an answer has whatever its form.
func (p Problem) setHeader(h http.Header) {
	status := p.StatusCode()
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if p.ProxyError != "" {
		h.Set("Proxy-Status", "gatehouse; error="+p.ProxyError)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		h.Set("Retry-After", strconv.FormatInt(max(1, ceilSeconds(p.RetryAfter)), 10))
	}
	if p.Authenticate != "" {
		h.Set("WWW-Authenticate", p.Authenticate)
	}
	if p.Allow != "" {
		h.Set("Allow", p.Allow)
	}
	if p.Close {
		h.Set("Connection", "close")
	}
}

func ceilSeconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}

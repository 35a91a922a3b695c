package exchange

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"gatehouse/helper/breaker"
	"gatehouse/helper/clientip"
	"gatehouse/helper/explain"
	"gatehouse/helper/identity"
	"gatehouse/helper/limit"
	"gatehouse/helper/problem"
	"gatehouse/helper/trace"
	"gatehouse/helper/transport"
)

// None is the name of the route and the upstream of a request that matched
// no route.
const None = "_none"

// Outcome is what became of the call to the upstream. The breaker, the
// passive health and the metrics read it, never the status that the client saw.
type Outcome uint8

// The outcomes of an upstream call.
const (
	NotSent   Outcome = iota // the gateway answered itself
	Success                  // an answer that speaks for the upstream
	Failure                  // an answer, or none, that speaks against it
	Cancelled                // the client is the reason that it ended
)

// Exchange is the record of one request. Fields are set by the stage that the
// comment names and read by the later ones, the access log and the metrics.
type Exchange struct {
	Writer Writer // the one wrapper of the client's ResponseWriter

	// Set by Begin.
	Start     time.Time
	Trace     trace.Context // the caller's position, or a new one; where Spans isn't nil, this request's own
	Spans     *Spans        // nil: the request isn't sampled, or nobody records spans
	TraceID   string        // 32 hexadecimal digits
	RequestID string        // X-Request-Id: the trace id, or the id that a trusted proxy sent
	// KeepTracestate says that the tracestate that came in belongs to the trace that is continued.
	KeepTracestate bool
	Client         clientip.Client
	GRPC           bool // a gRPC call, which is refused in gRPC's way
	TwoFramings    bool // it came with a Content-Length and a Transfer-Encoding
	// Explain is the report on a request that is only asked about, for stages to fill in: they consume nothing
	// then. nil: the request is a real one.
	Explain *explain.Report

	// Set by upstream resolution.
	Host     string // the Host that came in, canonical
	RawPath  string // the path as it came over the wire
	Route    string // the route's name, or None
	Upstream string // the upstream's name, or None

	RouteIndex int      // the route's place in the route table
	Observer   Observer // counts for the route; set by Begin for a request without one

	// Set by the rate limit.
	Limited string         // the rule that refused, or one in shadow that would have; "" when none did
	Limit   limit.Decision // the strictest that the client was told; zero when none was

	// Set by the circuit breaker; the zero permit reports to nobody.
	Permit breaker.Permit

	// Set by authentication; nil without a verified caller.
	Principal *identity.Principal

	// Queues for the proxy and the writer.
	Upstreamward Headers // set on the request to the upstream
	Clientward   Headers // set on the answer to the client
	DropToken    bool    // Authorization isn't forwarded
	DropCORS     bool    // the upstream's Access-Control-* headers are replaced by the gateway's
	BodyLimit    int64   // bytes of the request's body, besides the route's own limit; 0: none. See LimitBody

	// Set by the proxy.
	Outcome      Outcome
	Code         problem.Code // why the gateway answered itself, or cut the answer; "" otherwise
	Backend      string       // the URL, as configured, of the last backend tried
	Attempts     int
	UpstreamTime time.Duration   // waiting for the upstream's headers and body
	BytesIn      int64           // of the request's body, read from the client
	Call         any             // the proxy's own state of the call; nobody else reads it
	Lane         transport.Watch // of the call to the backend; it ends with the context

	life life

	// Waiting counts the reads and writes that are waiting for the client at the
	// moment, so that a stall can be laid at the right door. Any goroutine.
	Waiting atomic.Int32
}

// Observer counts what becomes of the requests of one route. Its methods may
// be called concurrently.
type Observer interface {
	// Accept and Reject count the rate limit's decision.
	Accept()
	Reject()
	// Rejected counts an answer that the gateway made itself, by its code.
	Rejected(code string)
	// Observe counts a finished request; overhead is the time that wasn't spent
	// waiting for the upstream.
	Observe(method string, status int, duration, overhead time.Duration, traceID string)
}

// Begin starts the record of r and returns r with the record in its context. The
// caller fills Trace, Client and RequestID, and calls End in the end.
func Begin(w http.ResponseWriter, r *http.Request, writeIdle time.Duration) (*Exchange, *http.Request) {
	ex := &Exchange{Start: time.Now(), Route: None, Upstream: None, GRPC: problem.IsGRPC(r.Header)}
	ex.Writer = Writer{ResponseWriter: w, ex: ex, idle: writeIdle, head: r.Method == http.MethodHead, old: !r.ProtoAtLeast(1, 1)}
	return ex, r.WithContext(ex.life.begin(ex, r))
}

// Judge records what became of the upstream call and reports it to the
// breaker. The first judgement counts: a stream is judged at its headers.
func (ex *Exchange) Judge(o Outcome) {
	if ex.Outcome == NotSent {
		ex.Outcome = o
	}
	switch o {
	case Success:
		ex.Permit.Success()
	case Failure:
		ex.Permit.Failure()
	default:
		ex.Permit.Neutral()
	}
}

// LimitBody keeps the request's body to limit bytes, at least 1. Of several
// limits the smallest counts.
func (ex *Exchange) LimitBody(limit int64) {
	if ex.BodyLimit == 0 || limit < ex.BodyLimit {
		ex.BodyLimit = limit
	}
}

// TellLimit queues for the client what a limit said, unless an earlier one was
// stricter. policy is the rule's, for RateLimit-Policy.
func (ex *Exchange) TellLimit(d limit.Decision, policy string) {
	if ex.Limit.Limit > 0 && limit.Strictest(ex.Limit, d) == ex.Limit {
		return
	}
	ex.Limit = d
	header := d.Header()
	ex.Clientward.Set("Ratelimit-Limit", header.Limit)
	ex.Clientward.Set("Ratelimit-Remaining", header.Remaining)
	ex.Clientward.Set("Ratelimit-Reset", header.Reset)
	ex.Clientward.Set("Ratelimit-Policy", policy)
}

// Refuse answers with p and records its code. When the answer has already
// begun, only the code is recorded: nothing is written twice. What is queued
// for the client goes along, but p's own headers stand above it: a route's
// Cache-Control is not for its errors.
func (ex *Exchange) Refuse(w http.ResponseWriter, p problem.Problem) {
	ex.Code = p.Code
	if ex.Explain != nil {
		ex.Explain.Answer.Detail = p.Detail
	}
	if ex.Writer.Started() {
		return
	}
	if p.Code == problem.ClientClosed {
		ex.Writer.status = problem.StatusClientClosed // nobody is there to read an answer
		return
	}
	ex.Clientward.Apply(w.Header())
	ex.Clientward.Clear()
	if ex.GRPC {
		p.WriteGRPC(w, ex.TraceID)
		return
	}
	p.Write(w, ex.TraceID)
}

// Scrub takes from the header of an upstream's answer what the gateway sets
// itself, so that its value stands alone.
func (ex *Exchange) Scrub(h http.Header) {
	for name := range h {
		if ex.Sets(name) {
			delete(h, name)
		}
	}
}

// Sets says whether the gateway sets this header of the answer itself.
func (ex *Exchange) Sets(name string) bool {
	return ex.Clientward.Sets(name) || ex.DropCORS && strings.HasPrefix(name, "Access-Control-")
}

// Status is the status that the client got, 499 when it left before.
func (ex *Exchange) Status() int { return ex.Writer.status }

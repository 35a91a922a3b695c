package trace

import (
	"encoding/binary"
	"math"
	"time"
)

// Request is one finished request, for whoever records spans.
type Request struct {
	Trace    Context // its own span
	Parent   [8]byte // the caller's span; zero: the trace began here
	Start    time.Time
	End      time.Time
	Method   string
	Host     string
	Path     string // without the query
	Route    string
	Upstream string
	Client   string
	Status   int
	Code     string // why the gateway answered itself, "" otherwise
	Attempts []Attempt
	Calls    []Call
}

// Attempt is one try to reach a backend.
type Attempt struct {
	Span    [8]byte // what the backend saw as its parent
	Start   time.Time
	End     time.Time
	Backend string
	Status  int    // 0: there was no answer
	Error   string // a code of the gateway, "" where there was an answer
}

// Call is one round trip to the store that all gateways share.
type Call struct {
	Start time.Time
	End   time.Time
	Err   error // nil: it was answered
}

// Fetch is one attempt to bring keys up to date from their issuer.
type Fetch struct {
	Providers []string // that use the keys
	Start     time.Time
	End       time.Time
	Gets      []Get // one after the other
	Err       error // nil: there are keys
}

// Get is one document that was asked for.
type Get struct {
	URL    string // without user, password and query
	Start  time.Time
	End    time.Time
	Status int   // 0: there was no answer
	Err    error // nil: the document came
}

// Sampler chooses a share of the traces by their ids, so that everybody with the same share chooses the same ones. Its
// zero value chooses none.
type Sampler struct{ below uint64 }

// NewSampler makes a Sampler that chooses ratio, from 0 to 1, of the traces.
func NewSampler(ratio float64) Sampler {
	return Sampler{uint64(max(0, min(ratio, 1)) * (math.MaxInt64 + 1))}
}

// Samples says whether a trace is chosen. It looks at the last 63 bits of the id, as the samplers of OpenTelemetry do,
// which level 2 of Trace Context wants to be random.
func (s Sampler) Samples(c Context) bool {
	return binary.BigEndian.Uint64(c.TraceID[8:])>>1 < s.below
}

package exchange

import "gatehouse/helper/trace"

// Spans are what is recorded of a sampled request besides what stands in its
// Exchange.
type Spans struct {
	Parent   [8]byte         // the caller's span; zero: the trace began here
	Attempts []trace.Attempt // filled in by the proxy
	Calls    []trace.Call    // filled in by the store of the limits
}

// Calls is where the round trips of this request are noted; nil: nobody records
// them.
func (ex *Exchange) Calls() *[]trace.Call {
	if ex.Spans == nil {
		return nil
	}
	return &ex.Spans.Calls
}

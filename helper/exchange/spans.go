package exchange

import "gatehouse/helper/trace"

// Spans are what is recorded of a sampled request besides what stands in its
// Exchange.
type Spans struct {
	Parent   [8]byte         // the caller's span; zero: the trace began here
	Attempts []trace.Attempt // filled in by the proxy
}

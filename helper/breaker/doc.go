// Package breaker is a circuit breaker: it stops requests to an upstream that
// keeps failing, and lets a few trials through after a while to see whether it
// has recovered. It knows no HTTP: the caller says what is a failure.
//
// A breaker is closed (everything passes) until Options.Failures results in a
// row are failures; then open (nothing passes) for Options.OpenFor; then
// half-open: Options.HalfOpenRequests trials pass, and when all of them have
// succeeded it closes, while a single failure opens it again for a full
// OpenFor.
//
//	var permit breaker.Permit
//	if !b.Acquire(&permit) {
//		return // 503, Retry-After: b.RetryAfter()
//	}
//	defer permit.Neutral() // also on panic; does nothing after a report
//	...
//	permit.Success() // or permit.Failure()
//
// Guaranteed: of the requests of one half-open period, those that are out and
// those that have succeeded are together never more than HalfOpenRequests; a
// neutral result, or Permit.Yield, gives its place to the next request; a result counts only for
// the period that admitted its request, so that a late one changes nothing;
// time is monotonic, so that a step of the wall clock neither opens, closes nor
// prolongs anything; when no request is out and the open time is over, the next
// request is admitted, always.
//
// Not guaranteed: a trial that is still running when its half-open period ends
// isn't counted against the next one. Two transitions within the same instant
// may be told to OnTransition in either order.
//
// Every method may be called concurrently. There are no locks and no
// goroutines: the state is one atomic pointer.
package breaker

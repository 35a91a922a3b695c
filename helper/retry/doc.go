// Package retry decides whether a failed attempt is made again, and holds what
// is needed for that: Policy is the decision and the pause before it, Budget
// bounds the retries of an upstream, Body can send a request's body again.
//
//	body := retry.NewBody(r.Body, r.ContentLength)
//	budget.Request()
//	for attempt := 1; ; attempt++ {
//		out.Body, err = body.Open()
//		... // one attempt; failure says what became of it
//		failure.Replayable = body.Replayable()
//		if !policy.Allows(failure) || !budget.Retry() || policy.Wait(ctx, attempt) != nil {
//			break // this attempt's answer is the answer
//		}
//	}
//
// Guaranteed: nothing is sent twice for a method that isn't listed, but, where
// UnsafeOnConnect says so, after a connection that was never made; nothing is
// sent again after a byte of an answer went to the client, nor without its whole
// body; a retry waits no longer than its request may; and when everything fails,
// the retries of the last ten seconds are no more than the budget's share of the
// requests, but for three in each second.
//
// Not guaranteed: that a failed attempt had no effect. A listed method is taken
// to be one that may be repeated (RFC 9110, section 9.2.2).
//
// A Policy doesn't change and may be used concurrently, and so may a Budget. The
// readers of one Body may be used concurrently with each other: the transport of
// an earlier attempt may still be reading when the next begins. There are no
// goroutines, and no lock is held while a body is read.
package retry

package proxy

import "time"

// patience is how long a trial may wait for its client to send the body.
const patience = time.Second

// beginLease bounds how long a trial of the breaker, or of an ejected backend, may
// keep its place while its body is on the way: a slow client would keep others
// from finding out that the upstream is well again. Once the body is whole the
// limits on the answer bound it.
func (c *call) beginLease() {
	if c.lease != nil || c.request == nil || !c.exchange.Permit.Trial() && !c.attempt.Trial() {
		return
	}
	c.lease = time.AfterFunc(time.Hour, c.checkLease)
	c.lease.Reset(patience) // only now may it fire: lease is set
}

// checkLease runs on the timer's goroutine.
func (c *call) checkLease() {
	if c.watch.stopped.Load() || c.request.whole.Load() {
		return
	}
	now := time.Since(c.watch.start)
	left := patience - c.request.clientTime(now)
	if limit := c.upstream.Lease; limit > 0 {
		left = min(left, limit-now)
	}
	if left > 0 {
		c.lease.Reset(left)
		return
	}
	c.exchange.Permit.Yield()
	c.attempt.Yield()
}

func (c *call) endLease() {
	if c.lease != nil {
		c.lease.Stop()
	}
}

package limit

import "time"

// Decision is what a bucket answered.
type Decision struct {
	Allowed    bool
	Limit      int           // the rule's burst
	Remaining  int           // whole tokens left
	RetryAfter time.Duration // until the same request would be allowed; 0 when it is allowed
	Reset      time.Duration // until the bucket is full
}

// Decision is the rule's answer to one who asks for a token, when the bucket
// lacks missing of being full and taken tokens, 0 for a refusal, were given.
// missing isn't more than a whole bucket, and counts before they were taken.
func (r Rule) Decision(missing time.Duration, taken int) Decision {
	if taken == 0 {
		return decision(r, int64(missing), false, int64(missing)+int64(r.Interval)-int64(r.Full()))
	}
	return decision(r, int64(missing)+int64(taken)*int64(r.Interval), true, 0)
}

// Strictest is the decision that a client must hear about when two limits apply:
// a refusal before an approval, of two refusals the longer wait, of two
// approvals the one with fewer tokens left.
func Strictest(a, b Decision) Decision {
	switch {
	case a.Allowed != b.Allowed:
		if a.Allowed {
			return b
		}
		return a
	case b.RetryAfter > a.RetryAfter, b.RetryAfter == a.RetryAfter && b.Remaining < a.Remaining:
		return b
	default:
		return a
	}
}

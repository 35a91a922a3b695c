package limit

import "time"

// Take asks a bucket for n tokens at the time now. The bucket's whole state is
// one number, tat: the time at which it will be full ("theoretical arrival
// time"; 0 is a bucket that was never used). The result is the new state, which
// is tat itself if the request is refused, and the decision. n isn't negative;
// 0 only looks. More than the rule's burst is never allowed, and RetryAfter is
// then the time until the bucket is full.
//
// tat and now count nanoseconds from the same zero, and now isn't negative. A now
// that is earlier than that of the call before mints nothing.
//
// This is the generic cell rate algorithm of the ATM Forum (Traffic Management
// 4.0, section 4.4.2, "virtual scheduling"): a token bucket without a timer that
// fills it.
func Take(rule Rule, tat, now int64, n int) (int64, Decision) {
	interval, full := int64(rule.Interval), int64(rule.Interval)*int64(rule.Burst)
	// missing is how far the bucket is from full, as time. More than a whole
	// bucket is missing only if the clock ran backwards: it counts as empty.
	missing := int64(0)
	if tat > now {
		missing = min(tat-now, full)
	}
	wait := missing
	if n <= rule.Burst { // so that n*interval can't overflow
		wait = missing + int64(n)*interval - full
		if wait <= 0 {
			missing += int64(n) * interval
			return max(tat, now+missing), decision(rule, missing, true, 0)
		}
	}
	return tat, decision(rule, missing, false, wait)
}

func decision(rule Rule, missing int64, allowed bool, wait int64) Decision {
	interval := int64(rule.Interval)
	return Decision{
		Allowed:    allowed,
		Limit:      rule.Burst,
		Remaining:  int((interval*int64(rule.Burst) - missing) / interval),
		RetryAfter: time.Duration(wait),
		Reset:      time.Duration(missing),
	}
}

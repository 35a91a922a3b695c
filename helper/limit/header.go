package limit

import (
	"strconv"
	"time"
)

// Header is a decision as the values of HTTP header fields: whole numbers, the
// times in seconds, rounded up so that a client that waits so long isn't early.
type Header struct {
	Limit      string // RateLimit-Limit: the burst
	Remaining  string // RateLimit-Remaining
	Reset      string // RateLimit-Reset: seconds until the bucket is full
	RetryAfter string // Retry-After (RFC 9110, section 10.2.3), at least 1; "" when allowed
}

// Header returns the values for an answer to the request.
func (d Decision) Header() Header {
	h := Header{
		Limit:     strconv.Itoa(d.Limit),
		Remaining: strconv.Itoa(d.Remaining),
		Reset:     strconv.FormatInt(seconds(d.Reset), 10),
	}
	if !d.Allowed {
		h.RetryAfter = strconv.FormatInt(max(1, seconds(d.RetryAfter)), 10)
	}
	return h
}

// seconds rounds up without overflowing.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}

// Policy is the rule as the value of RateLimit-Policy: its burst, and the window
// in which so many requests are allowed in the long run, in seconds, rounded to
// the nearest, at least 1. (Up, 3/s would be 3;w=2: its interval isn't a whole
// number of nanoseconds.)
func (r Rule) Policy() string {
	return strconv.Itoa(r.Burst) + ";w=" + strconv.FormatInt(max(1, int64(r.Full().Round(time.Second)/time.Second)), 10)
}

package explain

import (
	"time"

	"gatehouse/helper/limit"
)

// NoteLimit notes what the limit of that name said; key is who counts together.
func (r *Report) NoteLimit(name, key string, d limit.Demand) {
	noted := Limit{
		Name: name, Key: key, Allowed: d.Decision.Allowed, Shadow: d.Shadow, Burst: d.Decision.Limit, Remaining: d.Decision.Remaining,
		Reset: rounded(d.Decision.Reset), Unasked: d.Unasked,
	}
	if !noted.Allowed {
		noted.RetryAfter = rounded(d.Decision.RetryAfter)
	}
	r.Limits = append(r.Limits, noted)
}

// NoteBreaker notes how the upstream's breaker stands.
func (r *Report) NoteBreaker(state string, admits bool, retryAfter time.Duration) {
	r.Breaker = &Breaker{State: state, Admits: admits}
	if retryAfter > 0 {
		r.Breaker.RetryAfter = rounded(retryAfter)
	}
}

// NoteRefusedCaller notes why authentication refuses a caller, for the operator: the caller isn't told so much.
func (r *Report) NoteRefusedCaller(provider, why string) {
	r.Auth = &Auth{Provider: provider, Why: why}
}

// NoteFilter notes that the request comes to a filter, and whether what that does is known.
func (r *Report) NoteFilter(name string, known bool) {
	r.Filters = append(r.Filters, Filter{Name: name, Reached: true, Undecided: !known})
	if !known {
		r.Undecided = append(r.Undecided, "what the filter "+name+" does: only a request shows it, and it is taken to let this one pass")
	}
}

// rounded is a time as a person reads it.
func rounded(d time.Duration) string { return d.Round(time.Millisecond).String() }

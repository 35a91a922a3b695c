package limit

import "gatehouse/helper/trace"

// Demand is what a request asks of one bucket, and the bucket's answer.
type Demand struct {
	Rule Rule
	Key  Key // of this rule
	// Shadow says that a refusal of this bucket is only to be known: it refuses
	// nothing.
	Shadow bool
	// Batch, over 1, asks for up to so many tokens at once, as many of them as
	// there are. One is enough to be allowed.
	Batch int
	// Look asks what the bucket would say, and takes nothing. Either all demands of
	// a request look, or none.
	Look bool
	// Calls, unless it is nil, gets the round trips that the request costs. It is the
	// same for all demands of a request, and nobody else writes to it meanwhile.
	Calls *[]trace.Call

	// Decision is set by the store: this bucket's own answer, whether or not the
	// others let the request have the token.
	Decision Decision
	// Taken is set by the store: the tokens that the bucket gave; 0 when any
	// bucket refused the request.
	Taken int
	// Unasked is set by the store where it was only to look and the bucket is out of
	// its reach: Decision is that of a full one.
	Unasked bool
}

// Decide asks a bucket in the state tat, at the time now, as Take does. It sets
// Decision, and Taken as if no other bucket had a say; the result is the new
// state.
func (d *Demand) Decide(tat, now int64) int64 {
	d.Taken = 1
	if d.Batch > 1 {
		_, look := Take(d.Rule, tat, now, 0)
		d.Taken = max(1, min(d.Batch, look.Remaining))
	}
	next, decision := Take(d.Rule, tat, now, d.Taken)
	if d.Decision = decision; !decision.Allowed {
		d.Taken = 0
	}
	return next
}

// Granted says whether every bucket that may refuse the request has allowed it.
func Granted(demands []Demand) bool {
	for i := range demands {
		if !demands[i].Decision.Allowed && !demands[i].Shadow {
			return false
		}
	}
	return true
}

// Settle sets Taken to 0 where a bucket would have given a token to a request
// that another one refused, and says whether the request is granted.
func Settle(demands []Demand) bool {
	granted := Granted(demands)
	for i := range demands {
		if !granted {
			demands[i].Taken = 0
		}
	}
	return granted
}

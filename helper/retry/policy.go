package retry

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// Kind is how an attempt failed.
type Kind uint8

// The kinds of failure.
const (
	Connect Kind = iota // no connection was made, so that nothing was sent
	Reset               // the connection broke before a header came
	Timeout             // no header came in time
	Status              // an answer with a status that may count as failure
)

// Policy says which attempts are made again. The zero Policy allows none.
type Policy struct {
	// Attempts is how many tries there are in all, the first one included.
	Attempts int
	// On lists the kinds that are tried again; Status is here, too, when any of
	// Statuses is.
	On []Kind
	// Statuses are those that are tried again.
	Statuses []int
	// Methods are those that are tried again.
	Methods []string
	// UnsafeOnConnect lets every method be tried again after Connect.
	UnsafeOnConnect bool
	// Backoff is the longest pause before the second attempt; it doubles with
	// each further one.
	Backoff time.Duration
}

// Failure is what is known when an attempt has failed.
type Failure struct {
	Method     string
	Attempt    int // which one it was, from 1
	Kind       Kind
	Status     int  // with Kind Status
	Replayable bool // there is no body, or all of it can be sent again
	Answered   bool // something of an answer has gone to the client
}

// Allows tells whether the request may be sent again after this failure, as far
// as the policy goes.
func (p *Policy) Allows(f Failure) bool {
	switch {
	case f.Attempt >= p.Attempts, f.Answered, !f.Replayable, !slices.Contains(p.On, f.Kind):
		return false
	case f.Kind == Status && !slices.Contains(p.Statuses, f.Status):
		return false
	case f.Kind == Connect && p.UnsafeOnConnect:
		return true
	}
	return slices.Contains(p.Methods, f.Method)
}

// maxDoublings keeps the pause from growing past every deadline.
const maxDoublings = 10

// LongestWait is how long Wait may take after this attempt.
func (p *Policy) LongestWait(attempt int) time.Duration {
	return p.Backoff << min(max(attempt-1, 0), maxDoublings)
}

// Wait pauses before the attempt after this one, for a random time up to Backoff
// and its doublings: attempts that failed together shouldn't come back together.
// It returns nil when it is time, the context's cause when the context ends
// before, and context.DeadlineExceeded at once when the pause would last to the
// context's deadline.
func (p *Policy) Wait(ctx context.Context, attempt int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	longest := p.LongestWait(attempt)
	if longest <= 0 {
		return nil
	}
	pause := rand.N(longest + 1)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package server

import (
	"context"
	"time"
)

// settle is how long requests that were cut have to notice and to make their log lines.
const settle = time.Second

// Drain is how a server comes to its end.
type Drain struct {
	// Delay is how long new requests are still taken after Begin, so that a load balancer can see the failing readiness.
	Delay time.Duration
	// Timeout is how long requests in flight have after that.
	Timeout time.Duration
	// Begin is called first: readiness fails and answers say Connection: close from here on.
	Begin func()
	// Wait returns nil once no request is in flight, upgraded connections included, and ctx's error before that if it ends.
	Wait func(ctx context.Context) error
	// InFlight is the number that Wait waits for.
	InFlight func() int64
}

// Drain ends the server: it begins to say so, waits d.Delay, stops accepting, gives what is in flight d.Timeout, and cuts
// what is left. It returns how many requests it cut. Where ctx ends first, the rest of the waiting is skipped and ctx's
// cause returned.
func (s *Server) Drain(ctx context.Context, d Drain) (cut int64, err error) {
	d.Begin()

	delay := time.NewTimer(d.Delay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-ctx.Done():
	}

	finish, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	shutdown := s.Shutdown(finish) // stops accepting; knows nothing of upgraded connections
	if wait := d.Wait(finish); shutdown != nil || wait != nil {
		cut = d.InFlight()
	}

	_ = s.Close() // what is left is cut on purpose; there is nothing to do about a connection that won't close
	if cut > 0 {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle)
		defer cancel()
		_ = d.Wait(last) // time's up either way, and the number is already known
	}
	return cut, context.Cause(ctx)
}

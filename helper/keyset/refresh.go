package keyset

import (
	"context"
	"math/rand/v2"
	"time"

	"gatehouse/helper/trace"
)

const (
	firstBackoff   = time.Second
	longestBackoff = 30 * time.Second
	shortestWait   = time.Second
	leastShare     = 10 // a max-age counts down to this part of the refresh interval
)

// Run fetches the set at once and then ahead of need, until ctx ends, and returns ctx's error. It is called once.
func (r *Remote) Run(ctx context.Context) error {
	defer r.end()
	for failures := 0; ; {
		r.begin()
		fetch := &trace.Fetch{Start: time.Now()}
		keys, lifetime, err := r.fetch(ctx, fetch)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		refresh := r.put(keys, err)
		fetch.End, fetch.Err = time.Now(), refresh.Err
		refresh.Fetch = fetch
		wait := r.pause(lifetime)
		if refresh.Err != nil {
			wait = r.backoff(failures)
			failures++
		} else {
			failures = 0
		}
		r.finish(refresh.Err, wait)
		r.options.Refreshed(refresh)

		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.wanted:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

// begin marks that a fetch is in flight, which is also the one that was asked for until now.
func (r *Remote) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetching = true
	select {
	case <-r.wanted:
	default:
	}
}

// finish tells those who wait that the fetch has ended.
func (r *Remote) finish(err error, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.failure, r.next = err, now.Add(wait)
	if err == nil {
		r.confirmed = now
	}
	r.fetching, r.attempted = false, true
	close(r.done)
	r.done = make(chan struct{})
}

// end lets go of those who wait: no fetch comes any more.
func (r *Remote) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	close(r.done)
	r.client.CloseIdleConnections()
}

// put takes what was fetched into use.
func (r *Remote) put(got *fetched, err error) Refresh {
	if err != nil {
		return r.current.refreshed(nil, nil, err)
	}
	if got.notModified {
		return Refresh{Result: Unchanged, Keys: r.load().Len()}
	}
	refresh := r.current.refreshed(got.keys, got.skipped, nil)
	if refresh.Err == nil {
		r.etag, r.etagURL = got.etag, got.url
	}
	return refresh
}

// pause is how long a set with this lifetime is used before the next fetch; negative: none was stated. It is up to a
// tenth shorter than it might be, so that many gateways don't fetch at the same moment.
func (r *Remote) pause(lifetime time.Duration) time.Duration {
	wait := r.options.Refresh
	if lifetime >= 0 {
		wait = min(max(lifetime, wait/leastShare), wait)
	}
	return max(shortestWait, wait-rand.N(wait/10+1))
}

// backoff is how long to wait after that many failures before: twice as long each time, by half at random.
func (r *Remote) backoff(before int) time.Duration {
	longest := min(longestBackoff, r.options.Refresh)
	wait := min(firstBackoff<<min(before, 10), longest)
	return wait/2 + rand.N(wait/2+1)
}

package keyset

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// RemoteOptions are where a Remote gets its keys and how often.
type RemoteOptions struct {
	// URL is the key set's (RFC 7517). With Issuer it must be "".
	URL string
	// Issuer is whose OpenID Connect discovery document names the key set's URL.
	Issuer string
	// Refresh is how often the set is fetched; a shorter max-age of the answer counts, down to a tenth of it.
	Refresh time.Duration
	// Cooldown is how long after a fetch for an unknown kid no other kid causes one.
	Cooldown time.Duration
	// Known is a set of this issuer from before, to begin with; nil: there is none.
	Known *Set
	// Transport makes the requests; nil: one that verifies TLS with the system's roots and uses the proxy of the environment.
	Transport http.RoundTripper
	// Refreshed is told of every fetch. It is called one at a time, from Run.
	Refreshed func(Refresh)
}

const (
	fetchTimeout = 5 * time.Second // of one fetch, discovery and redirects included
	longestWait  = fetchTimeout + time.Second
	discovery    = "/.well-known/openid-configuration" // OpenID Connect Discovery 1.0, section 4
)

// Remote is the source of the keys that an issuer publishes. Run fetches them.
type Remote struct {
	current
	options RemoteOptions
	client  *http.Client
	past    chan struct{} // is closed
	wanted  chan struct{} // gets a value when an unknown kid wants a fetch
	etag    string        // of the set in use; Run's own, like etagURL
	etagURL string

	mu        sync.Mutex
	done      chan struct{} // closed and replaced at the end of each fetch
	fetching  bool          // one was asked for or is in flight
	attempted bool          // one has ended
	ended     bool          // Run has
	asked     time.Time     // when an unknown kid last caused a fetch
	askedFor  string        // that kid
	next      time.Time     // when the next fetch is due
	confirmed time.Time     // when the set was last known to be the issuer's, at first when the Remote was made
	failure   error         // of the last fetch
}

// NewRemote makes a Remote.
func NewRemote(o RemoteOptions) *Remote {
	r := &Remote{options: o, past: make(chan struct{}), wanted: make(chan struct{}, 1), done: make(chan struct{}), confirmed: time.Now(), failure: errNotFetched}
	close(r.past)
	r.client = &http.Client{Transport: o.Transport, CheckRedirect: checkRedirect}
	if o.Transport == nil {
		r.client.Transport = newTransport()
	}
	if o.Known != nil {
		r.pointer.Store(&version{set: o.Known})
	}
	return r
}

var errNotFetched = errors.New("they haven't been fetched yet")

// Ready says whether there are keys.
func (r *Remote) Ready() bool { return r.load() != nil }

// Set is the set in use; nil before the first.
func (r *Remote) Set() *Set { return r.load() }

// Age is how long ago the issuer last confirmed the set; before the first time, how long the Remote has been trying.
func (r *Remote) Age() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.confirmed)
}

// Keys is like [Set.Keys]. For a kid that isn't known it waits for one fetch, if the cooldown allows one; before the first
// set it waits for the first fetch and is an *[UnavailableError] after it. So it is when the fetch that the kid waited for, or
// caused before, failed and none has succeeded since: the key may be one that the issuer has published meanwhile.
func (r *Remote) Keys(ctx context.Context, kid, algorithm string) ([]Key, error) {
	seen := r.load()
	if keys, known := r.look(ctx, kid, algorithm); known {
		return keys, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, longestWait, errWait)
	defer cancel()
	waited := false
	for range 3 { // a set that has just come, a fetch that began before the key was published, and one that didn't
		fetched := r.ask(seen, kid)
		if fetched == nil {
			break
		}
		waited = true
		select {
		case <-fetched:
		case <-ctx.Done():
			if context.Cause(ctx) != errWait { //nolint:errorlint // the cause is the value itself
				return nil, ctx.Err()
			}
		}
		seen = r.load()
		if keys, known := r.look(ctx, kid, algorithm); known {
			return keys, nil
		}
	}
	return nil, r.missing(seen, kid, waited)
}

// missing is why there is no key for a kid, after a wait or none; nil: the issuer has no such key.
func (r *Remote) missing(seen *Set, kid string, waited bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted := waited || !r.asked.IsZero() && r.askedFor == kid
	if seen == nil || r.failure != nil && wanted {
		return &UnavailableError{Err: r.failure, RetryAfter: max(time.Second, time.Until(r.next))}
	}
	return nil
}

// Wait waits until there are keys or the first attempt to fetch them has ended.
func (r *Remote) Wait(ctx context.Context) {
	if r.Ready() {
		return
	}
	if first := r.ask(nil, ""); first != nil {
		select {
		case <-first:
		case <-ctx.Done():
		}
	}
}

// Known is like Keys, but neither causes a fetch nor waits for one.
func (r *Remote) Known(kid, algorithm string) ([]Key, error) {
	seen := r.load()
	keys, known := r.look(context.Background(), kid, algorithm) // a set doesn't wait
	if known {
		return keys, nil
	}
	return nil, r.missing(seen, kid, false)
}

var errWait = errors.New("waited long enough for keys")

// look finds keys in the set. They are known, even if there are none, when a fetch could bring no others.
func (r *Remote) look(ctx context.Context, kid, algorithm string) (keys []Key, known bool) {
	set := r.load()
	if set == nil {
		return nil, false
	}
	keys, _ = set.Keys(ctx, kid, algorithm) // a Set has no error
	return keys, len(keys) > 0 || set.has(kid)
}

// ask returns what to wait for when the set that was seen doesn't have a key: the end of the fetch in flight, or of one
// that it causes. nil means that no fetch is near.
func (r *Remote) ask(seen *Set, kid string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.load() != seen: // another has come since
		return r.past
	case r.ended:
		return nil
	case seen == nil && !r.attempted: // the first fetch comes without asking
		return r.done
	case seen == nil: // it failed, and the next attempts come at their own pace
		return nil
	case r.fetching:
		return r.done
	case !r.asked.IsZero() && time.Since(r.asked) < r.options.Cooldown:
		return nil
	}
	r.asked, r.askedFor, r.fetching = time.Now(), kid, true
	r.wanted <- struct{}{} // there is room: begin empties it, and fetching keeps others away until then
	return r.done
}

func (r *Remote) documentURL() string {
	if r.options.Issuer == "" {
		return r.options.URL
	}
	return strings.TrimSuffix(r.options.Issuer, "/") + discovery
}

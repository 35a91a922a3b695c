// Package limit decides whether a request keeps within a rate. A Rule is a token
// bucket: it holds Burst tokens, each request takes one, and one grows back each
// Interval. A bucket is a single number, and Take is the pure function on it
// that every store uses, so that all of them agree.
//
// Bucket is one bucket that all requests share; Local keeps one for each client
// address, subject or header value, in memory.
//
//	rule, err := limit.NewRule("orders", 600, time.Minute, 50)
//	decision := store.Take(rule, rule.AddrKey(client))
//
// Guaranteed: in any time t no more than Burst + t/Interval requests are allowed,
// whatever the number of goroutines, so there is no window at whose edge twice
// the rate passes; a refused request takes no token; a bucket is forgotten only
// when it is full, which loses nothing; and time is monotonic, so that a step of
// the wall clock neither mints nor withholds tokens.
//
// Not guaranteed: past Options.MaxEntries a Local forgets buckets that aren't
// full, first those that are nearly so. A token that Return gives back is
// counted from the time at which it was taken: while it was out, the bucket
// could grow as if there were room for it. Requests aren't queued and there is no
// fairness among them.
//
// Every type may be used concurrently.
package limit

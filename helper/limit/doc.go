// Package limit decides whether a request keeps within a rate. A Rule is a token
// bucket: it holds Burst tokens, each request takes one, and one grows back each
// Interval. A bucket is a single number, and Take is the pure function on it
// that every store uses, so that all of them agree.
//
// A request asks for a token of several buckets at once, each a Demand: it gets
// one of each, or of none. Local keeps buckets in this process's memory, the
// package redis in a store that all instances share, and Fallback does the one
// while it can't do the other.
//
//	rule, err := limit.NewRule("orders", 600, time.Minute, 50)
//	demands := []limit.Demand{{Rule: rule, Key: rule.Key(limit.AddrSubject(client))}}
//	store.Decide(demands)
//	if !limit.Granted(demands) { … }
//
// Guaranteed: in any time t no more than Burst + t/Interval requests are allowed,
// whatever the number of goroutines, so there is no window at whose edge twice
// the rate passes; a refused request takes no token; a bucket is forgotten only
// when it is full, which loses nothing; and time is monotonic, so that a step of
// the wall clock neither mints nor withholds tokens.
//
// Not guaranteed: past Options.MaxEntries a Local forgets buckets that aren't
// full, first those that are nearly so. While a Fallback decides locally, each
// instance allows its share of a rule, at least a burst of one; when that begins,
// its buckets are full. Requests aren't queued and there is no fairness among
// them.
//
// Every type may be used concurrently.
package limit

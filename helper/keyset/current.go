package keyset

import (
	"sync/atomic"

	"gatehouse/helper/trace"
)

// current is the set that a source has at present. One goroutine replaces it, any number read it.
type current struct{ pointer atomic.Pointer[version] }

type version struct {
	set        *Set
	generation uint64
}

// load returns the set, or nil before the first.
func (c *current) load() *Set {
	if v := c.pointer.Load(); v != nil {
		return v.set
	}
	return nil
}

// replace puts keys in the place of the set and says whether they differ from it. The generation changes only when a key
// left: what was verified with the others still holds.
func (c *current) replace(keys []Key) (changed bool) {
	next := &version{set: NewSet(keys...)}
	if old := c.pointer.Load(); old != nil {
		kept := old.set.within(next.set)
		if kept && next.set.within(old.set) {
			return false
		}
		if next.generation = old.generation; !kept {
			next.generation++
		}
	}
	c.pointer.Store(next)
	return true
}

// Generation changes when a key has left the set: what was verified before may not be any more.
func (c *current) Generation() uint64 {
	if v := c.pointer.Load(); v != nil {
		return v.generation
	}
	return 0
}

// Result is what became of a refresh.
type Result string

// The results.
const (
	Success   Result = "success"   // there are other keys than before
	Unchanged Result = "unchanged" // the same keys were confirmed
	Failure   Result = "failure"   // none could be had; the last good set stays
)

// Results lists every Result, for metrics that stand at 0 from the start.
func Results() []Result { return []Result{Success, Unchanged, Failure} }

// Refresh tells of one attempt to bring a set up to date.
type Refresh struct {
	Result  Result
	Keys    int          // how many are in use now
	Skipped []error      // keys that can't be used, each with why
	Err     error        // why it failed
	Fetch   *trace.Fetch // how it went over the network; nil: it was a file
}

// refreshed puts keys in place and describes it. A set without one usable key is a mistake of whoever published it rather
// than the wish to have every token refused, so it counts as failure.
func (c *current) refreshed(keys []Key, skipped []error, err error) Refresh {
	if err == nil && len(keys) == 0 {
		err = errNoKey
	}
	refresh := Refresh{Result: Unchanged, Skipped: skipped, Err: err}
	if err != nil {
		refresh.Result = Failure
	} else if c.replace(keys) {
		refresh.Result = Success
	}
	if set := c.load(); set != nil {
		refresh.Keys = set.Len()
	}
	return refresh
}

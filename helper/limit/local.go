package limit

import (
	"context"
	"hash/maphash"
	"math/bits"
	"sync"
	"time"
)

const (
	// DefaultMaxEntries is about 130 MB of buckets.
	DefaultMaxEntries = 2_000_000

	shards     = 256
	sweepEvery = time.Minute // a pass over all shards, one at a time
	sampled    = 8           // candidates for eviction
)

// Options bounds a Local.
type Options struct {
	// MaxEntries is the most buckets that are remembered, over all rules;
	// rounded down to a multiple of 256, the number of shards, but at least
	// that. 0: DefaultMaxEntries.
	MaxEntries int
}

// Local keeps the buckets of any number of rules in this process's memory. One
// is enough for a process, and it outlives a change of rules. Its methods may be
// called concurrently; Run must run while it is used.
type Local struct {
	start       time.Time // the monotonic clock's zero
	seed        maphash.Seed
	maxPerShard int
	shards      [shards]shard
}

// NewLocal returns an empty store.
func NewLocal(options Options) *Local {
	limit := options.MaxEntries
	if limit == 0 {
		limit = DefaultMaxEntries
	}
	l := &Local{start: time.Now(), seed: maphash.MakeSeed(), maxPerShard: max(1, limit/shards)}
	for i := range l.shards {
		l.shards[i].tats = make(map[Key]int64)
	}
	return l
}

// Decide asks all buckets at once: the request gets a token of each, or of none.
// The buckets must be different ones.
func (l *Local) Decide(demands []Demand) {
	now := l.now()
	type bucket struct {
		shard *shard
		next  int64
	}
	buckets := make([]bucket, 0, 8) // on the stack: few requests have more limits
	var held shardSet
	for i := range demands {
		index := l.index(demands[i].Key)
		held.add(index)
		buckets = append(buckets, bucket{shard: &l.shards[index]})
	}
	held.each(func(i int) { l.shards[i].mu.Lock() }) // in one order: two requests can't wait for each other
	for i := range demands {
		b, d := &buckets[i], &demands[i]
		b.next = d.Decide(b.shard.tats[d.Key], now)
	}
	if Settle(demands) {
		for i, b := range buckets {
			if d := &demands[i]; d.Taken > 0 && !d.Look {
				b.shard.put(d.Key, b.next, l.maxPerShard)
			}
		}
	}
	held.each(func(i int) { l.shards[i].mu.Unlock() })
}

// shardSet is a set of shards, by their index.
type shardSet [shards / 64]uint64

func (set *shardSet) add(i uint64) { set[i/64] |= 1 << (i % 64) }

// each calls f for each of them, in ascending order.
func (set *shardSet) each(f func(int)) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			f(64*i + bits.TrailingZeros64(word))
		}
	}
}

// Len is the number of buckets that are remembered.
func (l *Local) Len() int {
	n := 0
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		n += len(s.tats)
		s.mu.Unlock()
	}
	return n
}

// Run forgets full buckets, a shard at a time, until ctx is done; then it
// returns nil.
func (l *Local) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery / shards)
	defer ticker.Stop()
	for i := 0; ; i = (i + 1) % shards {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			l.shards[i].sweep(l.now())
		}
	}
}

func (l *Local) now() int64 { return int64(time.Since(l.start)) }

// index is that of the key's shard. It is chosen by a seeded hash: clients choose
// their addresses, and must not be able to meet in one shard.
func (l *Local) index(key Key) uint64 { return maphash.Bytes(l.seed, key[:]) % shards }

// shard is a part of the buckets under a lock of its own.
type shard struct {
	mu   sync.Mutex
	tats map[Key]int64 // see Take
	peak int           // the most entries since tats was made
	_    [40]byte      // the locks of two shards don't share a cache line
}

// sweep forgets every bucket that is full: it differs in nothing from one that
// was never used. A map never shrinks, so that one that has become mostly empty
// is made anew.
func (s *shard) sweep(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, tat := range s.tats {
		if tat <= now {
			delete(s.tats, key)
		}
	}
	if 4*len(s.tats) >= s.peak {
		return
	}
	kept := make(map[Key]int64, len(s.tats))
	for key, tat := range s.tats {
		kept[key] = tat
	}
	s.tats, s.peak = kept, len(kept)
}

// put keeps the state of a bucket, and no more than most buckets.
func (s *shard) put(key Key, tat int64, most int) {
	if _, known := s.tats[key]; !known && len(s.tats) >= most {
		s.evict()
	}
	s.tats[key] = tat
	s.peak = max(s.peak, len(s.tats))
}

// evict makes room for one entry. Of a few random ones it takes the bucket that
// is full soonest: whoever floods the store with new addresses evicts those, and
// not the bucket that they have emptied. A bucket that all clients share stays.
func (s *shard) evict() {
	var soonest Key
	n, least := 0, int64(0)
	for key, tat := range s.tats {
		if key.shared() {
			continue
		}
		if n == 0 || tat < least {
			soonest, least = key, tat
		}
		if n++; n == sampled {
			break
		}
	}
	delete(s.tats, soonest)
}

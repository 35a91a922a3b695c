package limit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/limit"
)

// Random requests to several buckets at once, some for a batch, some in shadow.
func TestLocalDecidesOnSeveralBucketsAsThePureFunctionDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, random, start := limit.NewLocal(limit.Options{}), rand.New(rand.NewPCG(1, 2)), time.Now()
		rules := []limit.Rule{newRule(t, 10, time.Second, 3), newRule(t, 7, time.Second, 40), newRule(t, 1, time.Hour, 50), newRule(t, 3, time.Minute, 1)}
		tats, allowed := map[limit.Key]int64{}, 0
		for call := range 5000 {
			pass(time.Duration(random.IntN(200)) * ms)
			var demands []limit.Demand
			for _, index := range random.Perm(len(rules))[:1+random.IntN(len(rules))] {
				key := stringKey(rules[index], fmt.Sprint(random.IntN(10)))
				demands = append(demands, limit.Demand{Rule: rules[index], Key: key, Shadow: random.IntN(4) == 0, Batch: random.IntN(5)})
			}
			want, next, now := slices.Clone(demands), make([]int64, len(demands)), int64(time.Since(start))
			for i := range want {
				next[i] = want[i].Decide(tats[want[i].Key], now)
			}
			if limit.Settle(want) {
				allowed++
				for i, d := range want {
					if d.Taken > 0 {
						tats[d.Key] = next[i]
					}
				}
			}
			if l.Decide(demands); !slices.Equal(demands, want) {
				t.Fatalf("call %d:\ngot  %+v\nwant %+v", call, demands, want)
			}
		}
		if allowed < 500 || allowed > 4500 {
			t.Errorf("%d of 5000 were allowed: the schedule tries too little", allowed)
		}
	})
}

// All pairs of keys are locked in both orders, and no request that was refused
// took a token.
func TestRequestsToSeveralBucketsAtOnceNeitherBlockNorPassALimit(t *testing.T) {
	const burst = 100
	l, rule := limit.NewLocal(limit.Options{}), newRule(t, 1, time.Hour, burst)
	var taken [4]atomic.Int64
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range 2000 {
				pair := random.Perm(4)[:2]
				demands := make([]limit.Demand, 2)
				for i, n := range pair {
					demands[i] = limit.Demand{Rule: rule, Key: addrKey(rule, client(n))}
				}
				if l.Decide(demands); limit.Granted(demands) {
					taken[pair[0]].Add(1)
					taken[pair[1]].Add(1)
				}
			}
		})
	}
	group.Wait()
	full := 0
	for n := range taken {
		look := []limit.Demand{{Rule: rule, Key: addrKey(rule, client(n))}}
		l.Decide(look)
		got := int(taken[n].Load()) + look[0].Taken + look[0].Decision.Remaining
		if got != burst {
			t.Errorf("bucket %d: %d taken, %+v", n, taken[n].Load(), look[0])
		}
		if taken[n].Load() == burst {
			full++
		}
	}
	if full < 3 {
		t.Errorf("%d buckets were used up, want at least 3", full)
	}
}

func TestABucketThatAllShareOutlivesAFlood(t *testing.T) {
	l := limit.NewLocal(limit.Options{MaxEntries: 256}) // one a shard
	quick, slow := newRule(t, 1, time.Minute, 1), newRule(t, 1, time.Hour, 1)
	shared := []limit.Demand{{Rule: quick, Key: quick.Key(limit.SharedSubject("orders"))}}
	l.Decide(shared)
	for n := range 50_000 {
		l.Decide([]limit.Demand{{Rule: slow, Key: addrKey(slow, client(n))}})
	}
	if l.Decide(shared); shared[0].Decision.Allowed {
		t.Error("the bucket was forgotten")
	}
}

func TestSubjects(t *testing.T) {
	rule := newRule(t, 1, time.Hour, 1)
	keys := map[limit.Key]string{}
	for name, subject := range map[string]limit.Subject{
		"a user": limit.StringSubject("subject", "ada"), "a header": limit.StringSubject("header:X", "ada"), "everybody": limit.SharedSubject("ada"),
		"another": limit.StringSubject("subject", "adb"), "of an issuer": limit.StringSubject("subject", "a", "da"), "of another": limit.StringSubject("subject", "ad", "a"), "an address": limit.AddrSubject(client(1)),
	} {
		key := rule.Key(subject)
		if keys[key] != "" || key.Subject() != subject {
			t.Errorf("%s has the bucket of %q", name, keys[key])
		}
		keys[key] = name
	}
}

func BenchmarkDecide(b *testing.B) {
	l, rule, shared := limit.NewLocal(limit.Options{}), newRule(b, 1e6, time.Second, 1000), newRule(b, 1e9, time.Second, 1e9)
	demands := []limit.Demand{{Rule: shared, Key: shared.Key(limit.SharedSubject("route"))}, {Rule: rule}}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n = (n + 1) % 10_000
		demands[1].Key = addrKey(rule, client(n))
		l.Decide(demands)
	}
}

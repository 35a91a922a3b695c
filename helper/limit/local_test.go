package limit_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/limit"
)

// take asks one bucket for a token.
func take(l *limit.Local, rule limit.Rule, key limit.Key) limit.Decision {
	demands := [...]limit.Demand{{Rule: rule, Key: key}}
	l.Decide(demands[:])
	return demands[0].Decision
}

func addrKey(rule limit.Rule, addr netip.Addr) limit.Key { return rule.Key(limit.AddrSubject(addr)) }

func stringKey(rule limit.Rule, s string) limit.Key {
	return rule.Key(limit.StringSubject("subject", s))
}

// client is the nth of four billion IPv4 clients.
func client(n int) netip.Addr {
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], uint32(n))
	return netip.AddrFrom4(four)
}

// run starts the store's sweeper and returns what stops it.
func run(t *testing.T, l *limit.Local) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if err := l.Run(ctx); err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	return func() { cancel(); group.Wait() }
}

// heap is the memory in use, in MB.
func heap() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapInuse >> 20)
}

func TestAMillionClientsAreSmallAndTheIdleOnesAreForgotten(t *testing.T) {
	const clients = 1_000_000
	synctest.Test(t, func(t *testing.T) {
		l, rule := limit.NewLocal(limit.Options{}), newRule(t, 60, time.Minute, 5)
		before := heap()
		defer run(t, l)()
		for n := range clients {
			take(l, rule, addrKey(rule, client(n)))
		}
		grown := heap() - before
		t.Logf("%d clients: %d MB", clients, grown)
		if l.Len() != clients || grown > 200 {
			t.Errorf("%d of %d clients are remembered, in %d MB, want all in 200 MB", l.Len(), clients, grown)
		}
		pass(2 * time.Minute)
		if left := heap() - before; l.Len() != 0 || left > 5 {
			t.Errorf("idle for two minutes: %d clients are remembered, in %d MB", l.Len(), left)
		}
		runtime.KeepAlive(l)
	})
}

func TestASweepForgetsOnlyFullBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.NewLocal(limit.Options{})
		defer run(t, l)()
		quick, slow := newRule(t, 10, time.Second, 10), newRule(t, 1, time.Hour, 1)
		for n := range 1000 {
			take(l, quick, addrKey(quick, client(n)))
		}
		for n := range 100 {
			take(l, slow, addrKey(slow, client(n)))
		}
		pass(time.Hour - 1)
		if got := l.Len(); got != 100 {
			t.Errorf("%d buckets are remembered, want the 100 that aren't full", got)
		}
		for n := range 100 {
			if take(l, slow, addrKey(slow, client(n))).Allowed {
				t.Fatalf("client %d got a second token within the hour", n)
			}
		}
	})
}

func TestRulesAndClientsHaveBucketsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.NewLocal(limit.Options{})
		minute, hour := newRule(t, 1, time.Minute, 1), newRule(t, 1, time.Hour, 1)
		for n := range 500 {
			for _, rule := range []limit.Rule{minute, hour} {
				key := addrKey(rule, client(n))
				if !take(l, rule, key).Allowed || take(l, rule, key).Allowed {
					t.Fatalf("client %d shares a bucket", n)
				}
			}
		}
	})
}

// A flood of new addresses fills the store. Its size stays bounded, and the
// flood doesn't give the flooder back the bucket that it emptied first.
func TestAFloodOfAddressesResetsNobodysBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 25_600
		l, rule := limit.NewLocal(limit.Options{MaxEntries: most}), newRule(t, 10, time.Minute, 10)
		emptied := make([]limit.Key, 100)
		for i := range emptied {
			emptied[i] = stringKey(rule, fmt.Sprint("emptied ", i))
			for take(l, rule, emptied[i]).Allowed {
			}
		}
		for n := range 10 * most {
			if !take(l, rule, addrKey(rule, client(n))).Allowed {
				t.Fatalf("new client %d was refused", n)
			}
		}
		if got := l.Len(); got > most {
			t.Errorf("%d buckets are remembered, want at most %d", got, most)
		}
		for i, key := range emptied {
			if take(l, rule, key).Allowed {
				t.Errorf("bucket %d was full again", i)
			}
		}
	})
}

// Sweeps, evictions and takes at once, for the race detector.
func TestAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, rule := limit.NewLocal(limit.Options{MaxEntries: 1024}), newRule(t, 100, time.Second, 2)
		defer run(t, l)()
		var group sync.WaitGroup
		for g := range 4 {
			group.Go(func() {
				for n := range 3000 {
					key := addrKey(rule, client(n*(g+1)))
					take(l, rule, key)
					if n%50 == 0 {
						pass(100 * ms)
					}
				}
			})
		}
		group.Wait()
		if got := l.Len(); got > 1024 {
			t.Errorf("%d buckets are remembered, want at most 1024", got)
		}
	})
}

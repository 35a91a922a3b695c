package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/helper/limit"
	"gatehouse/helper/limit/redis/redistest"
)

func addresses(servers []*redistest.Server) []string {
	var out []string
	for _, s := range servers {
		out = append(out, s.Addr())
	}
	return out
}

func TestTheBucketsOfASubjectAreInOneSlot(t *testing.T) {
	nodes := redistest.NewCluster(t, 3)
	a, b := newRule(t, "a", 1, time.Hour, 5), newRule(t, "b", 1, time.Hour, 2)
	slot := func(key limit.Key) string { return nodes[0].MustDo(t, "CLUSTER", "KEYSLOT", keyName(key)) }
	if x, y := slot(stringKey(a, "ada")), slot(stringKey(b, "ada")); x != y {
		t.Errorf("they are in %s and %s", x, y)
	}
	var calls atomic.Int64
	c := newClient(t, Options{Addresses: addresses(nodes), Called: func(time.Duration, error) { calls.Add(1) }})
	for i := range 3 {
		demands := []limit.Demand{{Rule: a, Key: stringKey(a, "ada")}, {Rule: b, Key: stringKey(b, "ada")}}
		if err := c.Decide(patient(t), demands); err != nil {
			t.Fatal(err)
		}
		if got := limit.Granted(demands); got != (i < 2) {
			t.Errorf("request %d: %v", i+1, got)
		}
	}
	if got := one(t, c, a, "ada").Decision.Remaining; got != 2 {
		t.Errorf("%d are left, want 2: the refused request took one", got)
	}
	if calls.Load() != 4 {
		t.Errorf("%d calls for 4 requests", calls.Load())
	}
}

// What one node gave is given back when another refuses.
func TestInAClusterARefusedRequestTakesNothing(t *testing.T) {
	c := newClient(t, Options{Addresses: addresses(redistest.NewCluster(t, 3))})
	roomy, tight := newRule(t, "roomy", 1, time.Hour, 100), newRule(t, "tight", 1, time.Hour, 2)
	for i := range 20 {
		demands := []limit.Demand{{Rule: tight, Key: tight.Key(limit.SharedSubject("up"))}}
		for n := range 8 { // on all nodes, whatever the hashes are
			demands = append(demands, limit.Demand{Rule: roomy, Key: stringKey(roomy, fmt.Sprint(n)), Shadow: n == 7})
		}
		if err := c.Decide(patient(t), demands); err != nil {
			t.Fatal(err)
		}
		if got := limit.Granted(demands); got != (i < 2) {
			t.Errorf("request %d: %v", i+1, got)
		}
	}
	for n := range 8 {
		if got := one(t, c, roomy, fmt.Sprint(n)).Decision.Remaining; got != 97 {
			t.Errorf("bucket %d has %d left, want 97", n, got)
		}
	}
}

// Slots move while requests come: MOVED and ASK are followed, and no token is
// minted on the way.
func TestASlotThatMovesKeepsItsBuckets(t *testing.T) {
	nodes := redistest.NewCluster(t, 3)
	c, rule := newClient(t, Options{Addresses: addresses(nodes)}), newRule(t, "r", 1, time.Hour, 40)
	key := stringKey(rule, "ada")
	one(t, c, rule, "ada")
	slot := nodes[0].MustDo(t, "CLUSTER", "KEYSLOT", keyName(key))
	from := 0
	for i, node := range nodes {
		if _, err := node.Do("GET", keyName(key)); err == nil {
			from = i
		}
	}
	source, target := nodes[from], nodes[(from+1)%3]
	sourceID, targetID := source.MustDo(t, "CLUSTER", "MYID"), target.MustDo(t, "CLUSTER", "MYID")
	target.MustDo(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID)
	source.MustDo(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID)
	one(t, c, rule, "ada") // still at the source
	source.MustDo(t, "MIGRATE", "127.0.0.1", fmt.Sprint(target.Port), keyName(key), "0", "5000")
	one(t, c, rule, "ada") // ASK
	for _, node := range nodes {
		node.MustDo(t, "CLUSTER", "SETSLOT", slot, "NODE", targetID)
	}
	if got := one(t, c, rule, "ada").Decision.Remaining; got != 36 { // MOVED
		t.Errorf("%d are left, want 36", got)
	}
}

// The new master has what was replicated, and takes over within seconds.
func TestSentinelFailover(t *testing.T) {
	w := redistest.NewWatched(t)
	c := newClient(t, Options{Addresses: addresses(w.Sentinels), SentinelMaster: "limits"})
	rule := newRule(t, "r", 1, time.Hour, 1000)
	for range 10 {
		one(t, c, rule, "ada")
	}
	w.Master.MustDo(t, "WAIT", "1", "1000")
	w.Master.Kill()
	if err := redistest.Until(20*time.Second, func() error { return c.Check(patient(t)) }); err != nil {
		t.Fatalf("after the failover: %v", err)
	}
	if got := one(t, c, rule, "ada").Decision.Remaining; got != 989 {
		t.Errorf("%d are left, want 989: the buckets were lost", got)
	}
}

func TestConcurrentCallsShareRoundTrips(t *testing.T) {
	const calls = 200
	server := redistest.New(t)
	c, rule := newClient(t, Options{Addresses: []string{server.Addr()}}), newRule(t, "r", 1e6, time.Second, 1e6)
	one(t, c, rule, "ada")
	before := reads(t, server)
	if err := server.Pause(); err != nil { // while it stands still, calls gather
		t.Fatal(err)
	}
	var group, begun sync.WaitGroup
	begun.Add(calls)
	for range calls {
		group.Go(func() { begun.Done(); one(t, c, rule, "ada") })
	}
	begun.Wait()
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if got := reads(t, server) - before; got > calls/2 {
		t.Errorf("%d round trips for %d calls", got, calls)
	}
}

// reads is how many times the server has read from a connection.
func reads(t *testing.T, s *redistest.Server) int {
	_, stats, _ := strings.Cut(s.MustDo(t, "INFO", "stats"), "total_reads_processed:")
	stats, _, _ = strings.Cut(stats, "\r\n")
	n, err := strconv.Atoi(stats)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A lost node is the loss of a part of the keys, and Check says so, whichever
// node its own key is on.
func TestACheckAsksEveryNodeOfACluster(t *testing.T) {
	nodes := redistest.NewCluster(t, 3)
	c := newClient(t, Options{Addresses: addresses(nodes)})
	if err := c.Check(patient(t)); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		if err := node.Pause(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := c.Check(ctx); err == nil {
			t.Errorf("without the node %s nothing is wrong", node.Addr())
		}
		cancel()
		if err := node.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := redistest.Until(10*time.Second, func() error { return c.Check(patient(t)) }); err != nil {
			t.Errorf("with the node %s again: %v", node.Addr(), err)
		}
	}
}

package limits

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/limit/redis/redistest"
)

// several is the section redis of a Cluster's nodes or of Sentinels.
func several(servers []*redistest.Server, more string) settings {
	var addresses []string
	for _, s := range servers {
		addresses = append(addresses, fmt.Sprintf("%q", s.Addr()))
	}
	return settings{redis: fmt.Sprintf("addresses: [%s], timeout: %s%s", strings.Join(addresses, ", "), timeout, more)}
}

// The buckets of a Cluster move from node to node, each several times, while they are asked.
func TestNoKeyPassesItsLimitWhileSlotsMove(t *testing.T) {
	for name, more := range map[string]string{"without leases": "", "with leases": ", lease: 10"} {
		t.Run(name, func(t *testing.T) {
			redistest.Require(t)
			nodes := redistest.NewCluster(t, 3)
			f := start(t, several(nodes, more))
			f.told(t, toldShared, 1)
			o := f.load(t, 10*time.Millisecond)
			began, moved := time.Now(), 0
			for i := 0; time.Since(began) < 3*time.Second; i++ {
				moved += redistest.MoveSlots(t, nodes, nodes[i%3], nodes[(i+1)%3])
				o.sent(t, 100) // between two moves
			}
			o.end(time.Now())
			t.Logf("%d slots have moved", moved)
			if moved < 2*keys {
				t.Errorf("only %d slots have moved", moved)
			}
			o.holds(t, grown(o.lasted)*3/4, burst+grown(o.lasted))
			f.told(t, toldLocally, 0)
			f.in(t, "redis")
		})
	}
}

// The master of a replica dies. Until the Sentinels have made that the master, each gateway allows its share; then the
// limit is one again.
func TestAFailoverCostsNobodyAnError(t *testing.T) {
	redistest.Require(t)
	w := redistest.NewWatched(t)
	f := start(t, several(w.Sentinels, ", sentinel_master: limits"))
	f.told(t, toldShared, 1)
	f.in(t, "redis")
	f.run(t, time.Second).holds(t, 1, burst+grown(2*time.Second))

	o := f.load(t, 10*time.Millisecond)
	w.Master.Kill()
	killed := time.Now()
	f.told(t, toldLocally, 1)
	f.in(t, "local")
	f.told(t, toldShared, 2)
	t.Logf("limits were shared again after %s", time.Since(killed))
	f.in(t, "redis")
	o.end(time.Now().Add(time.Second))
	// The run before has left nothing of the burst, but there is one in the gateways' shares, and one at the new master, where
	// the buckets have filled up meanwhile. Besides, a gateway that still is alone allows its share a moment longer than another.
	o.holds(t, grown(o.lasted)/2, 2*burst+grown(o.lasted+time.Second))

	o = f.run(t, 2*time.Second)
	o.holds(t, grown(o.lasted)/2, burst+grown(o.lasted))
	f.told(t, toldLocally, 1)
}

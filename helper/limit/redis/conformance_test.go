package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/limit"
	"gatehouse/helper/limit/redis/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newClient is a client that runs as long as the test.
func newClient(t *testing.T, options Options) *Client {
	t.Helper()
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	return c
}

func newRule(t *testing.T, name string, events int, period time.Duration, burst int) limit.Rule {
	t.Helper()
	rule, err := limit.NewRule(name, events, period, burst)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// patient is for calls that must succeed, however busy the machine is.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// decideAt is Decide that also tells Redis's time, in nanoseconds.
func (c *Client) decideAt(ctx context.Context, t *testing.T, demands []limit.Demand) (now int64) {
	t.Helper()
	call := newCall(ctx, demands, false)
	if err := c.do(ctx, call); err != nil {
		t.Fatal(err)
	}
	if err := c.read(&call.scripts[0], demands); err != nil {
		t.Fatal(err)
	}
	limit.Settle(demands)
	reply, _ := call.scripts[0].reply.Int64Slice()
	return reply[0]*second + reply[1]*1000
}

// pure decides as the stores must: with the pure function alone.
type pure map[limit.Key]int64

func (p pure) decide(demands []limit.Demand, now int64) {
	next := make([]int64, len(demands))
	for i := range demands {
		next[i] = demands[i].Decide(p[demands[i].Key], now)
	}
	if limit.Settle(demands) {
		for i, d := range demands {
			if d.Taken > 0 {
				p[d.Key] = next[i]
			}
		}
	}
}

// rules fill up in microseconds, in months and between, some with odd intervals.
func rules(t *testing.T) []limit.Rule {
	return []limit.Rule{
		newRule(t, "quick", 7000, time.Second, 3),
		newRule(t, "odd", 30_000, 7*time.Second, 40),
		newRule(t, "dense", 999_999_937, time.Second, 100_000),
		newRule(t, "slow", 1, time.Hour, 200),
		newRule(t, "long", 3, 1000*time.Hour, 876),
		newRule(t, "second", 1, time.Second, 1),
	}
}

// The schedule is random: which buckets are asked together, for how many tokens,
// in shadow or not, and how long apart.
func TestRedisDecidesAsThePureFunctionDoes(t *testing.T) {
	c, ctx := newClient(t, Options{Addresses: []string{redistest.New(t).Addr()}}), patient(t)
	all, random := rules(t), rand.New(rand.NewPCG(1, 2))
	model, allowed, refused := pure{}, 0, 0
	for call := range 5000 {
		var demands []limit.Demand
		for _, index := range random.Perm(len(all))[:1+random.IntN(3)] {
			rule := all[index]
			demands = append(demands, limit.Demand{
				Rule: rule, Key: stringKey(rule, fmt.Sprint(random.IntN(3))), Shadow: random.IntN(5) == 0, Batch: random.IntN(4) * random.IntN(12),
			})
		}
		want := slices.Clone(demands)
		model.decide(want, c.decideAt(ctx, t, demands))
		for i := range demands {
			if demands[i] != want[i] {
				t.Fatalf("call %d, %d of %d, %s:\ngot  %+v\nwant %+v", call, i+1, len(demands), demands[i].Rule.Name, demands[i], want[i])
			}
		}
		if limit.Granted(demands) {
			allowed++
		} else {
			refused++
		}
	}
	t.Logf("%d allowed, %d refused", allowed, refused)
	if min(allowed, refused) < 200 {
		t.Errorf("%d allowed and %d refused: the schedule tries too little", allowed, refused)
	}
}

func stringKey(rule limit.Rule, s string) limit.Key {
	return rule.Key(limit.StringSubject("subject", s))
}

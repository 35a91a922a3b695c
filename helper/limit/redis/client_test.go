package redis

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"gatehouse/helper/limit"
	"gatehouse/helper/limit/redis/redistest"
	"gatehouse/helper/trace"
)

// one asks one bucket for a token.
func one(t *testing.T, c *Client, rule limit.Rule, subject string) limit.Demand {
	t.Helper()
	demands := []limit.Demand{{Rule: rule, Key: stringKey(rule, subject)}}
	if err := c.Decide(patient(t), demands); err != nil {
		t.Fatal(err)
	}
	return demands[0]
}

func TestAKeyLivesNoLongerThanItsBucketNeeds(t *testing.T) {
	server := redistest.New(t)
	c := newClient(t, Options{Addresses: []string{server.Addr()}})
	for _, row := range []struct {
		name        string
		rule        limit.Rule
		takes       int
		least, most time.Duration
	}{
		{name: "one token of an hour lives for an hour", rule: newRule(t, "hour", 1, time.Hour, 1), takes: 1, least: 59 * time.Minute, most: time.Hour},
		{name: "half a bucket lives for half the time", rule: newRule(t, "half", 1, time.Minute, 10), takes: 5, least: 4*time.Minute + 50*time.Second, most: 5 * time.Minute},
		{name: "a refused request doesn't prolong it", rule: newRule(t, "refused", 1, time.Minute, 1), takes: 9, least: 50 * time.Second, most: time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			for range row.takes {
				one(t, c, row.rule, "ada")
			}
			left, err := c.redis.PTTL(patient(t), keyName(stringKey(row.rule, "ada"))).Result()
			if err != nil || left < row.least || left > row.most {
				t.Errorf("it lives for %s (%v), want %s to %s", left, err, row.least, row.most)
			}
		})
	}
	quick := newRule(t, "quick", 1000, time.Second, 1)
	one(t, c, quick, "ada")
	if err := redistest.Until(5*time.Second, func() error {
		n, err := c.redis.Exists(patient(t), keyName(stringKey(quick, "ada"))).Result()
		if n > 0 {
			err = redis.Nil
		}
		return err
	}); err != nil {
		t.Errorf("a bucket that is full is still there: %v", err)
	}
}

func TestAScriptThatRedisForgotIsSentAgain(t *testing.T) {
	server := redistest.New(t)
	c, rule := newClient(t, Options{Addresses: []string{server.Addr()}}), newRule(t, "r", 1, time.Hour, 3)
	for want := 2; want >= 0; want-- {
		server.MustDo(t, "SCRIPT", "FLUSH")
		if got := one(t, c, rule, "ada").Decision; !got.Allowed || got.Remaining != want {
			t.Errorf("got %+v, want %d left", got, want)
		}
	}
}

func TestAForeignValueIsOverwrittenAndTold(t *testing.T) {
	server := redistest.New(t)
	var told atomic.Pointer[string]
	c := newClient(t, Options{Addresses: []string{server.Addr()}, Replaced: func(key string) { told.Store(&key) }})
	for name, command := range map[string][]string{
		"a list":         {"RPUSH", "KEY", "x"},
		"another string": {"SET", "KEY", "seventeen"},
		"a small number": {"SET", "KEY", "17"},
	} {
		t.Run(name, func(t *testing.T) {
			rule := newRule(t, name, 1, time.Hour, 3)
			key := keyName(stringKey(rule, "ada"))
			command[1] = key
			server.MustDo(t, command...)
			if got := one(t, c, rule, "ada").Decision; !got.Allowed || got.Remaining != 2 {
				t.Errorf("first %+v", got)
			}
			if got := told.Swap(nil); got == nil || *got != key {
				t.Errorf("%s wasn't told", key)
			}
			if got := one(t, c, rule, "ada").Decision; !got.Allowed || got.Remaining != 1 || told.Load() != nil {
				t.Errorf("then %+v", got)
			}
		})
	}
}

// A failover may lead to a node whose clock is behind.
func TestAClockThatWentBackNeitherMintsNorWithholds(t *testing.T) {
	server := redistest.New(t)
	c, rule := newClient(t, Options{Addresses: []string{server.Addr()}}), newRule(t, "r", 20, time.Second, 2)
	hourAhead := time.Now().Add(time.Hour).UnixNano()
	if err := c.redis.Set(patient(t), keyName(stringKey(rule, "ada")), hourAhead, 2*time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	if got := one(t, c, rule, "ada").Decision; got.Allowed || got.Reset != 100*time.Millisecond {
		t.Errorf("got %+v, want an empty bucket", got)
	}
	if err := redistest.Until(5*time.Second, func() error {
		if !one(t, c, rule, "ada").Decision.Allowed {
			return redis.Nil
		}
		return nil
	}); err != nil {
		t.Error("the bucket didn't fill up again")
	}
}

func TestErrorsSayWhatRedisAnswered(t *testing.T) {
	open, locked, replica := redistest.New(t), redistest.New(t, "--requirepass", "right"), redistest.New(t)
	full := redistest.New(t, "--maxmemory", "1", "--maxmemory-policy", "noeviction")
	replica.MustDo(t, "REPLICAOF", "127.0.0.1", "1")
	replica.MustDo(t, "CONFIG", "SET", "replica-serve-stale-data", "yes")
	for _, row := range []struct {
		name    string
		options Options
		want    string // "": it works
	}{
		{"a right password", Options{Addresses: []string{locked.Addr()}, Password: "right"}, ""},
		{"a wrong password", Options{Addresses: []string{locked.Addr()}, Password: "not-it"}, "WRONGPASS"},
		{"no password", Options{Addresses: []string{locked.Addr()}}, "NOAUTH"},
		{"a user that isn't there", Options{Addresses: []string{open.Addr()}, Username: "bob", Password: "secret"}, "WRONGPASS"},
		{"another database", Options{Addresses: []string{open.Addr()}, DB: 3}, ""},
		{"a database that isn't there", Options{Addresses: []string{open.Addr()}, DB: 99}, "out of range"},
		{"a replica", Options{Addresses: []string{replica.Addr()}}, "READONLY"},
		{"no memory left", Options{Addresses: []string{full.Addr()}}, "OOM"},
		{"nobody there", Options{Addresses: []string{"127.0.0.1:1"}}, "connection refused"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t, row.options)
			err := c.Check(patient(t))
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if err != nil && row.options.Password != "" && strings.Contains(err.Error(), row.options.Password) {
				t.Error("the error shows the password")
			}
		})
	}
}

// Many goroutines and clients, as many processes would: no key gets more than
// its burst and what grew back, and every call that was refused took nothing.
func TestConcurrentRequestsNeverPassTheLimit(t *testing.T) {
	server := redistest.New(t)
	clients := []*Client{newClient(t, Options{Addresses: []string{server.Addr()}}), newClient(t, Options{Addresses: []string{server.Addr()}})}
	own, both := newRule(t, "own", 200, time.Second, 20), newRule(t, "both", 300, time.Second, 30)
	subjects := []string{"ada", "bob"}
	start := time.Now()
	var passed [2]atomic.Int64
	var group sync.WaitGroup
	for g := range 16 {
		group.Go(func() {
			for i := range 200 {
				subject := (g + i) % 2
				demands := []limit.Demand{
					{Rule: own, Key: stringKey(own, subjects[subject])},
					{Rule: both, Key: both.Key(limit.SharedSubject("both"))},
				}
				if err := clients[g%2].Decide(patient(t), demands); err != nil {
					t.Error(err)
					return
				}
				if limit.Granted(demands) {
					passed[subject].Add(1)
				}
			}
		})
	}
	group.Wait()
	lasted := time.Since(start)
	most := func(rule limit.Rule) int64 { return int64(rule.Burst) + int64(lasted/rule.Interval) + 1 }
	ada, bob := passed[0].Load(), passed[1].Load()
	t.Logf("%d and %d passed in %s", ada, bob, lasted)
	if ada > most(own) || bob > most(own) || ada+bob > most(both) || ada+bob < int64(both.Burst) {
		t.Errorf("%d and %d passed in %s, want at most %d each and %d together", ada, bob, lasted, most(own), most(both))
	}
}

// Whoever wants to know gets each round trip of its own request, and nobody else pays for it.
func TestRoundTripsAreNoted(t *testing.T) {
	server := redistest.New(t)
	c, rule := newClient(t, Options{Addresses: []string{server.Addr()}}), newRule(t, "r", 1, time.Hour, 3)
	var calls []trace.Call
	demands := []limit.Demand{{Rule: rule, Key: stringKey(rule, "ada"), Calls: &calls}}
	if err := c.Decide(patient(t), demands); err != nil || len(calls) != 1 || calls[0].Err != nil || !calls[0].End.After(calls[0].Start) {
		t.Errorf("noted %v, %v", calls, err)
	}
	one(t, c, rule, "ada")
	server.Kill()
	if err := c.Decide(patient(t), demands); err == nil || len(calls) != 2 || !errors.Is(calls[1].Err, err) {
		t.Errorf("noted %v, want %v", calls, err)
	}
}

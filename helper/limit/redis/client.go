package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"gatehouse/helper/limit"
)

const (
	// workers is how many pipelines are under way at a time. While all of them
	// are, requests gather for the next one.
	workers = 4
	// dialTimeout is for a new connection. Requests don't wait so long: they are
	// bounded by their own contexts.
	dialTimeout = time.Second
)

// Options are the settings of a Client.
type Options struct {
	// Addresses: one is a single node, several are nodes of a Cluster, or of
	// Sentinels where SentinelMaster is set.
	Addresses      []string
	SentinelMaster string // the name under which Sentinels know the master
	// Username and Password are for Redis; Sentinels are asked without.
	Username, Password string
	DB                 int         // not in a Cluster, which has only 0
	TLS                *tls.Config // nil: none
	// Replaced, where set, is told of a key of ours that held something else,
	// which counts as a full bucket and is overwritten.
	Replaced func(key string)
	// Called, where set, is told of every call: how long it took, and how it
	// failed.
	Called func(time.Duration, error)
}

// Client keeps the buckets of any number of rules. Run must run while it is
// used.
type Client struct {
	redis    redis.UniversalClient
	cluster  *redis.ClusterClient // nil: a single master, however it is found
	replaced func(key string)
	called   func(time.Duration, error)
	calls    chan *call // unbuffered: nothing is in it that nobody waits for any longer
	hash     string     // of the script
	probe    limit.Rule
}

// New returns a client. It doesn't connect: whether Redis is there is Check's to
// say.
func New(options Options) (*Client, error) {
	if len(options.Addresses) == 0 {
		return nil, errors.New("redis: no address")
	}
	probe, err := limit.NewRule("probe", 1, time.Second, 1)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	logging.Disable() // go-redis would write to stderr what the errors say; it has no logger of a client's own
	c := &Client{replaced: options.Replaced, called: options.Called, calls: make(chan *call), hash: redis.NewScript(source).Hash(), probe: probe}
	c.redis = redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: options.Addresses, MasterName: options.SentinelMaster,
		Username: options.Username, Password: options.Password, DB: options.DB, TLSConfig: options.TLS,
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ContextTimeoutEnabled:    true, // the call's own deadline counts
		DialTimeout:              dialTimeout, DialerRetries: 1, ReadTimeout: dialTimeout, WriteTimeout: dialTimeout,
		MaxRetries: -1, // a request that fails is decided locally
		PoolSize:   2 * workers, MinIdleConns: workers, PipelinePoolSize: -1,
	})
	c.cluster, _ = c.redis.(*redis.ClusterClient)
	if c.replaced == nil {
		c.replaced = func(string) {}
	}
	if c.called == nil {
		c.called = func(time.Duration, error) {}
	}
	return c, nil
}

// Run sends the calls until ctx ends, then closes the connections. The error is
// the closing's.
func (c *Client) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { c.work(ctx) })
	}
	group.Wait()
	if err := c.redis.Close(); err != nil {
		return fmt.Errorf("redis: closing connections: %w", err)
	}
	return nil
}

// Decide is limit.Local's, over all gateways: one round trip, and one more in a
// Cluster when the bucket of one subject refuses what that of another has
// given. ctx bounds it; the error says what Redis answered, or that it didn't.
func (c *Client) Decide(ctx context.Context, demands []limit.Demand) error {
	call := newCall(ctx, demands, c.cluster != nil)
	if err := c.do(ctx, call); err != nil {
		return err
	}
	for i := range call.scripts {
		if err := c.read(&call.scripts[i], demands); err != nil {
			return err
		}
	}
	if limit.Granted(demands) {
		return nil
	}
	err := c.giveBack(ctx, call, demands)
	limit.Settle(demands)
	return err
}

// giveBack returns what buckets gave before it was known that others refuse. A
// script has seen to it for its own buckets.
func (c *Client) giveBack(ctx context.Context, refused *call, demands []limit.Demand) error {
	back := &call{ctx: ctx, trips: refused.trips, done: make(chan struct{})}
	for _, s := range refused.scripts {
		if r := s.reverse(demands); s.granted(demands) && len(r.demands) > 0 {
			back.scripts = append(back.scripts, r)
		}
	}
	if len(back.scripts) == 0 {
		return nil
	}
	return c.do(ctx, back)
}

// Check says whether Redis can decide: whether it lets the script run and write,
// and in a Cluster, whether every master answers.
func (c *Client) Check(ctx context.Context) error {
	if c.cluster != nil {
		err := c.cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() })
		if err != nil {
			return fmt.Errorf("redis: %w", err)
		}
	}
	return c.Decide(ctx, []limit.Demand{{Rule: c.probe, Key: c.probe.Key(limit.SharedSubject("probe"))}})
}

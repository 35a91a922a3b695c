package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"gatehouse/helper/config"
	"gatehouse/helper/limit"
	"gatehouse/helper/limit/lease"
	"gatehouse/helper/limit/redis"
	"gatehouse/middleware"
)

// The values of the configuration that decide about limits.
const (
	perClientIP  = "client_ip"
	headerPrefix = "header:"
	modeShadow   = "shadow"
)

// routeLimits are all that a request of the route must keep to.
func (b *builder) routeLimits(r *config.Route, up *builtUpstream) (middleware.Limits, error) {
	limits := middleware.Limits{Store: b.limits, Plans: b.plans}
	if up.limit != nil {
		limits.Before = append(limits.Before, up.limit)
	}
	if r.Limit.Rate.Events > 0 {
		name, subject := "route:"+r.Name, middleware.Together("upstream:"+r.Upstream)
		switch {
		case r.Limit.Per == perClientIP:
			name, subject = "client_ip:"+r.Name, middleware.PerAddress
		case len(r.Split) > 0: // the route's limit is one, whichever upstream it goes to
			subject = middleware.Together(name)
		}
		l, err := newLimit(name, r.Limit.Rate, r.Limit.Burst, subject, r.Limit.Mode)
		if err != nil {
			return limits, fmt.Errorf("limit: %w", err)
		}
		limits.Before = append(limits.Before, l)
	}
	if r.Quota.Rate.Events > 0 {
		subject := middleware.PerCaller
		if header, ok := strings.CutPrefix(r.Quota.Per, headerPrefix); ok {
			subject = middleware.PerHeader(header)
		}
		l, err := newLimit("quota:"+r.Name, r.Quota.Rate, r.Quota.Burst, subject, r.Quota.Mode)
		if err != nil {
			return limits, fmt.Errorf("quota: %w", err)
		}
		limits.Quotas = append(limits.Quotas, l)
	}
	return limits, nil
}

func newLimit(name string, rate config.Rate, burst int, subject middleware.LimitSubject, mode string) (*middleware.Limit, error) {
	rule, err := limit.NewRule(name, rate.Events, rate.Period, burst)
	if err != nil {
		return nil, err
	}
	return middleware.NewLimit(name, rule, subject, mode == modeShadow), nil
}

// buildPlans makes the plans, which all routes share.
func (b *builder) buildPlans() error {
	if len(b.cfg.Plans) == 0 {
		return nil
	}
	b.plans = make(map[string]*middleware.Limit, len(b.cfg.Plans))
	for _, name := range slices.Sorted(maps.Keys(b.cfg.Plans)) {
		plan := b.cfg.Plans[name]
		l, err := newLimit("plan:"+name, plan.Rate, plan.Burst, middleware.PerCaller, "")
		if err != nil {
			return fmt.Errorf("plans.%s: %w", name, err)
		}
		b.plans[name] = l
	}
	return nil
}

// buildLimitStore says where the buckets are kept: in this process, or in Redis.
// With the same settings the connections stay.
func (b *builder) buildLimitStore() (err error) {
	c := b.cfg.Redis
	if c == nil || len(c.Addresses) == 0 || b.deps.Offline {
		b.limits = b.buckets
		b.deps.Observer.LimiterMode(false)
		return nil
	}
	b.limits, err = shared(b, fmt.Sprintf("redis %+v %q", *c, string(c.Password)), func() (middleware.LimitStore, func(), error) {
		return b.sharedLimits(*c)
	})
	return err
}

// sharedLimits is the way to Redis: a client, leases where they are wanted, and
// what decides while it is away.
func (b *builder) sharedLimits(c config.Redis) (middleware.LimitStore, func(), error) {
	client, err := redis.New(redis.Options{
		Addresses: c.Addresses, SentinelMaster: c.SentinelMaster, Username: c.Username, Password: string(c.Password), DB: c.DB, TLS: redisTLS(c),
		Called: b.deps.Observer.RedisCall,
		Replaced: func(key string) {
			b.deps.Log.Warn("a key of the limits held something else in Redis, and was overwritten", zap.String("key", key))
		},
	})
	if err != nil {
		return nil, nil, err
	}
	runs := []func(context.Context) error{client.Run}
	var remote limit.Remote = client
	if c.Lease > 0 {
		leases := lease.New(lease.Options{Remote: client, Most: c.Lease})
		runs, remote = append(runs, leases.Run), leases
	}
	fallback := limit.NewFallback(limit.FallbackOptions{
		Remote: remote, Local: b.buckets, Instances: c.Instances, Timeout: time.Duration(c.Timeout), Changed: b.limiterChanged,
	})
	runs = append(runs, fallback.Run)
	return fallback, running(func(ctx context.Context) error {
		var group errgroup.Group
		for _, run := range runs {
			group.Go(func() error { return run(ctx) })
		}
		return group.Wait()
	}), nil
}

func (b *builder) limiterChanged(remote bool, cause error) {
	b.deps.Observer.LimiterMode(remote)
	if remote {
		b.deps.Log.Info("limits are shared through Redis")
		return
	}
	b.deps.Log.Warn("limits are kept locally, because Redis can't be used", zap.Error(cause), zap.Int("instances", b.cfg.Redis.Instances))
}

// redisTLS names the host of the first address; nodes of a Cluster must have it
// in their certificates.
func redisTLS(c config.Redis) *tls.Config {
	if !c.TLS {
		return nil
	}
	host, _, _ := net.SplitHostPort(c.Addresses[0])
	return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
}

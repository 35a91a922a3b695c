package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/config"
	"gatehouse/helper/limit/redis/redistest"
)

const redisConfig = `
redis: {addresses: ["REDIS"], timeout: 2s, instances: 2LEASE}
upstreams: {app: {url: "http://BACKEND", limit: {rate: 5/h, burst: 5}, breaker: {failures: 0}}}
routes: [{path: /, upstream: app, auth: none, quota: {rate: 3/h, burst: 3, per: "header:X-Tenant"}, filters: ["rate_limit:36000/h"]}]
`

// counted waits until something has been counted so many times.
func (s *stand) counted(name string, times int) {
	s.t.Helper()
	if err := redistest.Until(10*time.Second, func() error {
		if n := s.counts.get(name); n != times {
			return fmt.Errorf("counted %s %d times, want %d in %v", name, n, times, s.counts)
		}
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
}

func TestGatewaysShareTheirLimits(t *testing.T) {
	for name, lease := range map[string]string{"one by one": "", "with leases": ", lease: 20"} {
		t.Run(name, func(t *testing.T) {
			yaml := strings.NewReplacer("REDIS", redistest.New(t).Addr(), "LEASE", lease).Replace(redisConfig)
			backend := newRawBackend(t, says(okAnswer)).Addr().String()
			a, b := start(t, backend, yaml), start(t, backend, yaml)
			a.counted("limiter in redis: true", 1)
			b.counted("limiter in redis: true", 1)
			for i, want := range []int{200, 200, 200, 429, 429} { // ada's quota, and the last by the upstream's limit
				if got := []*stand{a, b}[i%2].get("/", "X-Tenant: ada"); got.StatusCode != want {
					t.Errorf("request %d: %d, want %d", i+1, got.StatusCode, want)
				}
			}
			if got := b.get("/", "X-Tenant: bob"); got.code() != "rate_limited" || got.Header.Get("Ratelimit-Limit") != "5" {
				t.Errorf("the upstream's limit is used up: %d %q of %q", got.StatusCode, got.code(), got.Header.Get("Ratelimit-Limit"))
			}
		})
	}
}

// A reload takes the limits to Redis, keeps the connections while nothing about
// Redis changes, and takes them back.
func TestAReloadMovesTheLimits(t *testing.T) {
	server := redistest.New(t)
	backend := newRawBackend(t, says(okAnswer)).Addr().String()
	with := strings.NewReplacer("REDIS", server.Addr(), "LEASE", "").Replace(redisConfig)
	without := with[strings.Index(with, "upstreams:"):]
	s := start(t, backend, without)
	load := func(yaml string) {
		t.Helper()
		cfg, err := config.Parse("test.yaml", []byte(strings.ReplaceAll(yaml, "BACKEND", backend)), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		if err := s.gw.Load(cfg); err != nil {
			t.Fatal(err)
		}
	}
	s.get("/")
	load(with)
	s.counted("limiter in redis: true", 1)
	s.get("/")
	if err := redistest.Until(10*time.Second, func() error { // the upstream's, the quota's and the filter's, once the probe's has gone
		if n := server.MustDo(t, "DBSIZE"); n != "3" {
			return fmt.Errorf("Redis has %s keys, want 3", n)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	load(strings.Replace(with, "3/h", "4/h", 1))
	s.get("/")
	s.counted("limiter in redis: true", 1)
	load(without)
	s.counted("limiter in redis: false", 2)
	if got := s.get("/"); got.StatusCode != 200 || got.Header.Get("Ratelimit-Remaining") != "1" {
		t.Errorf("got %d with %s left, want the bucket that was there before", got.StatusCode, got.Header.Get("Ratelimit-Remaining"))
	}
}

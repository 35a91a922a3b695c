package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"gatehouse/helper/limit"
	"gatehouse/helper/limit/redis"
	"gatehouse/helper/limit/redis/redistest"
)

const (
	keysInAll = 1_000_000
	callers   = 256
)

// million prints what a million keys take in a gateway and in Redis.
func million(server *redistest.Server) error {
	rule, err := limit.NewRule("quota", 1, time.Hour, 100)
	if err != nil {
		return err
	}
	local := limit.NewLocal(limit.Options{})
	before := heap()
	for n := range keysInAll {
		local.Decide([]limit.Demand{demand(rule, n)})
	}
	fmt.Printf("%d keys in a gateway: %d MB\n", local.Len(), (heap()-before)>>20)
	runtime.KeepAlive(local)

	client, err := redis.New(redis.Options{Addresses: []string{server.Addr()}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- client.Run(ctx) }()
	used, err := usedMemory(server)
	if err != nil {
		return errors.Join(err, end(stop, ended))
	}
	begin := time.Now()
	if err := fill(ctx, client, rule); err != nil {
		return errors.Join(err, end(stop, ended))
	}
	after, err := usedMemory(server)
	fmt.Printf("%d keys in Redis: %d MB, filled at %.0f calls/s\n", keysInAll, (after-used)>>20, keysInAll/time.Since(begin).Seconds())
	return errors.Join(err, end(stop, ended))
}

func end(stop func(), ended <-chan error) error {
	stop()
	return <-ended
}

func demand(rule limit.Rule, n int) limit.Demand {
	return limit.Demand{Rule: rule, Key: rule.Key(limit.StringSubject("subject", strconv.Itoa(n)))}
}

// fill asks every key once.
func fill(ctx context.Context, client *redis.Client, rule limit.Rule) error {
	failed := make([]error, callers)
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for n := caller; n < keysInAll && failed[caller] == nil; n += callers {
				bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
				failed[caller] = client.Decide(bounded, []limit.Demand{demand(rule, n)})
				cancel()
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse
}

func usedMemory(server *redistest.Server) (int64, error) {
	info, err := server.Do("INFO", "memory")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(info, "used_memory:")
	number, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseInt(number, 10, 64)
}

package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// row is what a mode came to.
type row struct {
	name        string
	least, most float64 // what a key was allowed, as a share of its limit
	throughput  float64 // requests a second, all allowed
	p50, p99    time.Duration
	calls       float64 // of Redis, per request, then
}

// bench is what the runs share.
type bench struct{ folder, binary, redis, backend string }

// compare runs a mode twice: with more requests than the limits allow, and with limits that allow all.
func compare(m mode, b bench, d time.Duration, perSecond int) (row, error) {
	r := row{name: m.name}
	strict, err := b.start(m, rate, burst)
	if err != nil {
		return r, err
	}
	r.least, r.most = strict.shares(d)
	strict.stop()

	generous, err := b.start(m, 1_000_000, 1_000_000)
	if err != nil {
		return r, err
	}
	defer generous.stop()
	steady := generous.attack(vegeta.Rate{Freq: perSecond, Per: time.Second}, d)
	r.p50, r.p99 = steady.Latencies.P50, steady.Latencies.P99
	before, err := generous.redisCalls()
	if err != nil {
		return r, err
	}
	flood := generous.attack(vegeta.Rate{}, d) // as fast as it goes
	after, err := generous.redisCalls()
	if err != nil {
		return r, err
	}
	r.throughput, r.calls = flood.Throughput, (after-before)/float64(flood.Requests)
	if steady.Success < 1 {
		return r, fmt.Errorf("only %.1f %% of the requests succeeded: %v", 100*steady.Success, steady.Errors)
	}
	return r, nil
}

// targets takes gateways and keys in turn, so that each key meets each gateway.
func (f *fleet) targets() vegeta.Targeter {
	all := make([]vegeta.Target, 0, gateways*keys)
	for key := range keys {
		for _, g := range f.gateways {
			header := http.Header{"X-Tenant": {fmt.Sprint(key)}}
			all = append(all, vegeta.Target{Method: http.MethodGet, URL: "http://" + g.public + "/" + fmt.Sprint(key), Header: header})
		}
	}
	var next atomic.Uint64
	return func(t *vegeta.Target) error {
		*t = all[next.Add(1)%uint64(len(all))]
		return nil
	}
}

func (f *fleet) attack(pace vegeta.Rate, d time.Duration) *vegeta.Metrics {
	attacker := vegeta.NewAttacker(vegeta.Workers(64), vegeta.MaxWorkers(64), vegeta.KeepAlive(true))
	var m vegeta.Metrics
	for result := range attacker.Attack(f.targets(), pace, d, "") {
		m.Add(result)
	}
	m.Close()
	return &m
}

// shares is the least and the most that a key was allowed, as a share of what its limit allows in that time.
func (f *fleet) shares(d time.Duration) (least, most float64) {
	attacker := vegeta.NewAttacker(vegeta.Workers(64), vegeta.MaxWorkers(64))
	allowed, begin := map[string]int{}, time.Now()
	for result := range attacker.Attack(f.targets(), vegeta.Rate{Freq: 4 * keys * rate, Per: time.Second}, d, "") {
		if result.Code == http.StatusOK {
			allowed[result.URL[len(result.URL)-1:]]++
		}
	}
	limit := burst + rate*time.Since(begin).Seconds()
	for key := range keys {
		share := float64(allowed[fmt.Sprint(key)]) / limit
		if key == 0 {
			least = share
		}
		least, most = min(least, share), max(most, share)
	}
	return least, most
}

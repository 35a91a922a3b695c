// Command limits measures limits that three gateways share: what each key is allowed in all against its limit, requests
// per second, latency and calls of Redis, with Redis, with leases, and with each gateway for itself.
//
//	go run ./bench/limits            (about a minute; needs redis-server on the PATH)
//	go run ./bench/limits -memory    (what a million keys take, here and in Redis)
//
// The gateways and Redis are processes of their own; load (vegeta) and backend are in this one. Compare rows of one run,
// not figures of two.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"gatehouse/helper/limit/redis/redistest"
)

const (
	gateways = 3
	keys     = 8
	rate     = 100 // a second, of each key
	burst    = 50
)

// mode is a way to keep limits; redis is its section, with ADDRESS for the address.
type mode struct{ name, redis string }

func modes() []mode {
	return []mode{
		{"each for itself", ""},
		{"Redis", `redis: {addresses: ["ADDRESS"], instances: 3, timeout: 100ms}`},
		{"Redis, lease 20", `redis: {addresses: ["ADDRESS"], instances: 3, timeout: 100ms, lease: 20}`},
	}
}

func main() {
	binary := flag.String("gatehouse", "", "the gatehouse `binary` (default: built from this tree)")
	seconds := flag.Int("seconds", 5, "`seconds` a run")
	perSecond := flag.Int("rate", 1500, "requests a `second` for the latencies")
	memory := flag.Bool("memory", false, "measure the memory of a million keys instead")
	flag.Parse()
	log.SetFlags(0)
	run := func(folder string, redis *redistest.Server) error {
		return measure(folder, *binary, redis, time.Duration(*seconds)*time.Second, *perSecond)
	}
	if *memory {
		run = func(_ string, redis *redistest.Server) error { return million(redis) }
	}
	if err := withRedis(run); err != nil {
		log.Fatal(err)
	}
}

// withRedis runs a real redis-server for f.
func withRedis(f func(folder string, redis *redistest.Server) error) error {
	folder, err := os.MkdirTemp("", "gatehouse-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	redis, err := redistest.Start(folder)
	if err != nil {
		return err
	}
	defer redis.Kill()
	return f(folder, redis)
}

func measure(folder, binary string, redis *redistest.Server, d time.Duration, perSecond int) error {
	if binary == "" {
		binary = filepath.Join(folder, "gatehouse")
		if err := build(binary); err != nil {
			return err
		}
	}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "0")
	}))
	defer backend.Close()
	var rows []row
	for _, m := range modes() {
		r, err := compare(m, bench{folder: folder, binary: binary, redis: redis.Addr(), backend: backend.URL}, d, perSecond)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, r)
	}
	fmt.Printf("%d gateways, %d keys, %d/s and %d at once for each key\n\n", gateways, keys, rate, burst)
	fmt.Println("| limits kept in | allowed per key, of the limit | requests/s | p50 | p99 | Redis calls per request |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Printf("| %s | %.0f to %.0f %% | %.0f | %s | %s | %.2f |\n", r.name, 100*r.least, 100*r.most, r.throughput,
			r.p50.Round(10*time.Microsecond), r.p99.Round(10*time.Microsecond), r.calls)
	}
	return nil
}

// Command scale measures what a request costs as its surroundings grow: with 1, 100
// and 10,000 routes, over 1 to 5,000 connections, and with bodies of 100 B to 10 MB.
// What the number of tokens does is in go test -bench Stages ./middleware.
//
//	go run ./bench/scale            (about two minutes)
//	go run ./bench/scale -cpus 9    (what a second CPU is worth, by nine rounds)
//
// The gateway is a process of its own with GOMAXPROCS=1; load and backend are in
// this one. Compare rows of one run, not figures of two. Linux only.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"

	"gatehouse/bench/load"
)

// row is one measurement.
type row struct {
	name        string
	routes      int
	connections int
	body        int // bytes of an answer
	cpus        int
}

func rows() []row {
	var all []row
	for _, n := range []int{1, 100, 10_000} {
		all = append(all, row{fmt.Sprintf("%d routes", n), n, 64, 512, 1})
	}
	for _, n := range []int{1, 16, 256, 1000, 5000} {
		all = append(all, row{fmt.Sprintf("%d connections", n), 1, n, 512, 1})
	}
	for _, n := range []int{100, 10_000, 1_000_000, 10_000_000} {
		all = append(all, row{fmt.Sprintf("answers of %d bytes", n), 1, 16, n, 1})
	}
	return all
}

func main() {
	binary := flag.String("gatehouse", "", "the gatehouse `binary` (default: built from this tree)")
	seconds := flag.Int("seconds", 5, "`seconds` a row")
	only := flag.String("only", "", "only rows whose `name` has this in it")
	rounds := flag.Int("cpus", 0, "instead, measure GOMAXPROCS 1 against 2 in so many `rounds`")
	flag.Parse()
	log.SetFlags(0)
	if err := measure(*binary, *only, *rounds, time.Duration(*seconds)*time.Second); err != nil {
		log.Fatal(err)
	}
}

func measure(binary, only string, pairs int, d time.Duration) error {
	folder, err := os.MkdirTemp("", "gatehouse-scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if binary == "" {
		if binary, err = load.Build(folder); err != nil {
			return err
		}
	}
	backend := httptest.NewServer(http.HandlerFunc(answer))
	defer backend.Close()
	if pairs > 0 {
		return measureCPUs(binary, folder, backend.URL, pairs, d)
	}
	fmt.Printf("%-26s %10s %14s %9s %9s %10s %14s\n", "", "requests/s", "CPU us/request", "p50 us", "p99 us", "peak MB", "KB/idle conn.")
	for _, r := range rows() {
		if !strings.Contains(r.name, only) {
			continue
		}
		if err := r.measure(binary, folder, backend.URL, d); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// answer sends as many bytes as the last segment of the path says.
func answer(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(n))
	piece := make([]byte, min(n, 64<<10))
	for ; n > 0; n -= len(piece) {
		if _, err := w.Write(piece[:min(n, len(piece))]); err != nil {
			return // the measurement is over
		}
	}
}

func (r row) measure(binary, folder, backend string, d time.Duration) error {
	gateway, err := r.start(binary, folder, backend)
	if err != nil {
		return err
	}
	defer gateway.Stop()
	idle, err := idleMemory(gateway, r.connections)
	if err != nil {
		return err
	}
	run, cpu, err := r.run(gateway, d)
	if err != nil {
		return err
	}
	peak, err := gateway.PeakMemory()
	if err != nil {
		return err
	}
	fmt.Printf("%-26s %10.0f %14.1f %9d %9d %10.1f %14.1f\n", r.name, float64(run.Requests)/run.Elapsed.Seconds(), cpu,
		run.Percentile(0.5).Microseconds(), run.Percentile(0.99).Microseconds(), float64(peak)/1e6, idle/1e3)
	return nil
}

func (r row) start(binary, folder, backend string) (*load.Gateway, error) {
	var routes strings.Builder
	for i := range r.routes {
		fmt.Fprintf(&routes, "  - {path: /service-%d, upstream: order, auth: none}\n", i)
	}
	return load.Start(binary, folder, fmt.Sprintf(`
server: {admin: "127.0.0.1:0"}
log: {output: %s/access.log}
upstreams: {order: {url: %q}}
routes:
%s`, folder, backend, routes.String()), r.cpus)
}

// run puts a started gateway under load, and says what a request costs in µs of CPU time.
func (r row) run(gateway *load.Gateway, d time.Duration) (run load.Result, cpu float64, err error) {
	request := fmt.Appendf(nil, "GET /service-%d/%d HTTP/1.1\r\nHost: bench.test\r\n\r\n", r.routes/2, r.body)
	if warm := load.Run(gateway.Address, request, r.connections, time.Second, 200); warm.Errors > 0 {
		return run, 0, fmt.Errorf("%d of %d answers weren't 200", warm.Errors, warm.Requests)
	}
	before, err := gateway.CPUTime()
	if err != nil {
		return run, 0, err
	}
	run = load.Run(gateway.Address, request, r.connections, d, 200)
	after, err := gateway.CPUTime()
	if err != nil {
		return run, 0, err
	}
	if run.Errors > 0 || run.Requests == 0 {
		return run, 0, fmt.Errorf("%d of %d answers weren't 200", run.Errors, run.Requests)
	}
	return run, float64((after - before).Microseconds()) / float64(run.Requests), nil
}

// idleMemory is how many bytes each of n connections costs that has had a request
// and waits for another.
func idleMemory(gateway *load.Gateway, n int) (float64, error) {
	before, err := gateway.PeakMemory()
	if err != nil {
		return 0, err
	}
	for range n {
		conn, err := net.Dial("tcp", gateway.Address)
		if err != nil {
			return 0, err
		}
		defer conn.Close() //nolint:errcheck // it has done its work
		if _, err := conn.Write([]byte("GET /none HTTP/1.1\r\nHost: bench.test\r\n\r\n")); err != nil {
			return 0, err
		}
		if _, err := conn.Read(make([]byte, 4096)); err != nil {
			return 0, err
		}
	}
	after, err := gateway.PeakMemory()
	return float64(after-before) / float64(n), err
}

// Command chain measures what a request costs in gatehouse with the whole chain
// and with each stage off: requests per second, CPU time per request, p50, p99.
//
//	go run ./bench/chain            (about a minute; see make bench)
//
// The gateway is a process of its own with GOMAXPROCS=1, pinned to one CPU where
// taskset is there; load and backend are in this one. The rows are run in
// rotation, several times, and the medians printed: compare rows of one run, not
// figures of two.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/bench/load"
	"gatehouse/helper/server/servertest"
	"gatehouse/helper/token"
)

const secret = "a secret for the benchmark, nowhere else"

// row is one configuration: the whole chain less what it leaves out.
type row struct{ name, config string }

func rows() []row {
	const (
		limit  = `, limit: {rate: 1000000/s, burst: 1000000, per: client_ip}`
		cors   = `, cors: {allowed_origins: ["https://app.test"]}`
		jwt    = ``
		open   = `, auth: none`
		access = "log: {output: FOLDER/access.log}\n"
		silent = "log: {output: FOLDER/access.log, access: {enabled: false}}\n"
		on     = `breaker: {failures: 5}`
		off    = `breaker: {failures: 0}`
		plain  = `, connections: {lane: standard}`
	)
	config := func(log, breaker, route string) string {
		return log + `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
auth: {providers: {bench: {issuer: bench, algorithms: [HS256], secret: "` + secret + `"}}}
upstreams: {order: {url: "http://BACKEND", ` + breaker + `}}
routes: [{path: /order, upstream: order` + route + `}]
`
	}
	return []row{
		{"whole chain", config(access, on, jwt+limit+cors)},
		{"with http.Transport", config(access, on+plain, jwt+limit+cors)},
		{"without CORS", config(access, on, jwt+limit)},
		{"without rate limit", config(access, on, jwt+cors)},
		{"without breaker", config(access, off, jwt+limit+cors)},
		{"without access log", config(silent, on, jwt+limit+cors)},
		{"without authentication", config(access, on, open+limit+cors)},
		{"proxy alone", config(silent, off, open)},
		{"with http.Transport", config(silent, off+plain, open)},
	}
}

type sample struct {
	perSecond, cpu, p50, p99 float64 // microseconds but for perSecond
}

func main() {
	binary := flag.String("gatehouse", "", "the gatehouse `binary` (default: built from this tree)")
	seconds := flag.Int("seconds", 3, "`seconds` a run")
	runs := flag.Int("runs", 3, "runs of each row")
	connections := flag.Int("connections", 64, "kept-alive `connections`")
	flag.Parse()
	log.SetFlags(0)
	if err := measure(*binary, time.Duration(*seconds)*time.Second, *runs, *connections); err != nil {
		log.Fatal(err)
	}
}

func measure(binary string, d time.Duration, runs, connections int) error {
	folder, err := os.MkdirTemp("", "gatehouse-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if binary == "" {
		binary = filepath.Join(folder, "gatehouse")
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			return fmt.Errorf("building gatehouse: %w\n%s", err, out)
		}
	}
	backend, err := serveBackend()
	if err != nil {
		return err
	}
	defer backend.Close() //nolint:errcheck // the process ends
	bearer, err := token.Sign(map[string]any{
		"iss": "bench", "sub": "user-1", "email": "user-1@example.com", "scope": "order user", "exp": time.Now().Add(time.Hour).Unix(),
	}, []byte(secret), "HS256", "")
	if err != nil {
		return err
	}
	request := []byte("GET /order/1 HTTP/1.1\r\nHost: bench.test\r\nUser-Agent: bench\r\nAccept: */*\r\nAuthorization: Bearer " + bearer + "\r\n\r\n")
	table := rows()
	samples := make([][]sample, len(table))
	for range runs {
		for i, r := range table {
			text := strings.NewReplacer("BACKEND", backend.Addr().String(), "FOLDER", folder).Replace(r.config)
			s, err := run(binary, filepath.Join(folder, "config.yaml"), text, request, d, connections)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			samples[i] = append(samples[i], s)
		}
	}
	fmt.Printf("%-24s %10s %14s %9s %9s\n", "", "requests/s", "CPU us/request", "p50 us", "p99 us")
	for i, r := range table {
		median := func(of func(sample) float64) float64 {
			sorted := slices.SortedFunc(slices.Values(samples[i]), func(a, b sample) int { return cmp.Compare(of(a), of(b)) })
			return of(sorted[len(sorted)/2])
		}
		fmt.Printf("%-24s %10.0f %14.1f %9.0f %9.0f\n", r.name, median(func(s sample) float64 { return s.perSecond }),
			median(func(s sample) float64 { return s.cpu }), median(func(s sample) float64 { return s.p50 }), median(func(s sample) float64 { return s.p99 }))
	}
	return nil
}

// run starts the gateway, drives it after a warm-up, and stops it.
func run(binary, file, config string, request []byte, d time.Duration, connections int) (sample, error) {
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return sample{}, err
	}
	command := []string{binary, "serve", "--config", file}
	if pin, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{pin, "-c", "0"}, command...)
	}
	port, err := servertest.FreePort()
	if err != nil {
		return sample{}, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	command = append(command, "--listen", address)
	gateway := exec.Command(command[0], command[1:]...)
	gateway.Env = append(os.Environ(), "GOMAXPROCS=1")
	gateway.Stdout, gateway.Stderr = os.Stderr, os.Stderr
	if err := gateway.Start(); err != nil {
		return sample{}, err
	}
	defer func() {
		_ = gateway.Process.Signal(os.Interrupt)
		_ = gateway.Wait() // it was told to end
	}()
	if err := awaitListener(address); err != nil {
		return sample{}, err
	}
	if warm := load.Run(address, request, connections, time.Second, 200); warm.Errors > 0 {
		return sample{}, fmt.Errorf("%d of %d answers weren't 200", warm.Errors, warm.Requests)
	}
	before, err := load.CPUTime(gateway.Process.Pid)
	if err != nil {
		return sample{}, err
	}
	r := load.Run(address, request, connections, d, 200)
	after, err := load.CPUTime(gateway.Process.Pid)
	if err != nil {
		return sample{}, err
	}
	if r.Errors > 0 || r.Requests == 0 {
		return sample{}, fmt.Errorf("%d of %d answers weren't 200", r.Errors, r.Requests)
	}
	return sample{
		perSecond: float64(r.Requests) / r.Elapsed.Seconds(), cpu: float64((after - before).Microseconds()) / float64(r.Requests),
		p50: float64(r.Percentile(0.5).Microseconds()), p99: float64(r.Percentile(0.99).Microseconds()),
	}, nil
}

func awaitListener(address string) error {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("nothing listens on %s after 10 s", address)
}

// serveBackend answers every request with the same 512 bytes.
func serveBackend() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 512\r\n\r\n" + strings.Repeat("x", 512))
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed at the end of the measurement
			}
			go func() {
				defer conn.Close() //nolint:errcheck // what was answered has been counted
				in := bufio.NewReader(conn)
				for {
					line, err := in.ReadSlice('\n')
					if err != nil {
						return
					}
					if len(line) == 2 { // the empty line
						if _, err := conn.Write(answer); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	return l, nil
}

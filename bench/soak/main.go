// Command soak looks for what grows: memory over millions of requests, goroutines, descriptors and memory under random
// faults of backends and clients and reloads.
//
//	go run ./bench/soak -requests 10000000   (some ten minutes)
//	go run ./bench/soak -faults 5m
//
// The gateway is a process of its own; backends and load are in this one. Every line is a sample; the last one is taken
// after the load has ended and the connections have had time to go. Linux only.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"gatehouse/bench/load"
	"gatehouse/helper/token"
)

const secret = "a secret for the soak test, nowhere else"

func main() {
	binary := flag.String("gatehouse", "", "the gatehouse `binary` (default: built from this tree)")
	requests := flag.Int("requests", 0, "send so many `requests`, without faults")
	faults := flag.Duration("faults", 0, "make faults for so `long`")
	flag.Parse()
	log.SetFlags(0)
	if err := run(*binary, *requests, *faults); err != nil {
		log.Fatal(err)
	}
}

func run(binary string, requests int, faults time.Duration) error {
	if (requests > 0) == (faults > 0) {
		return errors.New("say what to do: -requests 10000000, or -faults 5m")
	}
	folder, err := os.MkdirTemp("", "gatehouse-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if binary == "" {
		if binary, err = load.Build(folder); err != nil {
			return err
		}
	}
	bearer, err := token.Sign(map[string]any{"iss": "soak", "sub": "u", "scope": "good bad", "exp": time.Now().Add(time.Hour).Unix()}, []byte(secret), "HS256", "")
	if err != nil {
		return err
	}
	good, bad, err := backends()
	if err != nil {
		return err
	}
	defer good.Close() //nolint:errcheck // the process ends
	defer bad.Close()  //nolint:errcheck // the process ends
	config := fmt.Sprintf(`
log: {output: %s, level: error}
auth: {providers: {soak: {issuer: soak, algorithms: [HS256], secret: %q}}}
upstreams:
  good: {url: "http://%s"}
  bad:
    backends: [{url: "http://%[4]s/1"}, {url: "http://%[4]s/2"}]
    timeouts: {connect: 200ms, response_header: 300ms, request: 1s}
    breaker: {failures: 50, open_for: 200ms}
    retry: {attempts: 2}
routes:
  - {path: /good, upstream: good, limit: {rate: 1000000/s, burst: 1000000, per: client_ip}}
  - {path: /bad, upstream: bad}
`, filepath.Join(folder, "gatehouse.log"), secret, good.Addr(), bad.Addr())
	s := &soak{config: config, folder: folder, bearer: bearer}
	if s.gateway, err = load.Start(binary, folder, config, 1); err != nil {
		return err
	}
	defer s.gateway.Stop()
	fmt.Printf("%10s %12s %10s %12s %12s\n", "seconds", "requests", "MB", "goroutines", "descriptors")
	if requests > 0 {
		return s.send(requests)
	}
	return s.fault(faults)
}

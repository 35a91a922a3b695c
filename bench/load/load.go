package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Result is what a run saw.
type Result struct {
	Requests int
	Errors   int // answers other than the wanted status, and broken connections
	Elapsed  time.Duration
	latency  []time.Duration // sorted
}

// Percentile is the latency that the given share (0 to 1) of the requests stayed below.
func (r Result) Percentile(share float64) time.Duration {
	if len(r.latency) == 0 {
		return 0
	}
	return r.latency[min(len(r.latency)-1, int(share*float64(len(r.latency))))]
}

// Run sends request over connections at a time for duration d and expects
// answers with status.
func Run(address string, request []byte, connections int, d time.Duration, status int) Result {
	start := time.Now()
	deadline := start.Add(d)
	results := make([]Result, connections)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i] = drive(address, request, deadline, status) })
	}
	wg.Wait()
	total := Result{Elapsed: time.Since(start)}
	for _, r := range results {
		total.Requests += r.Requests
		total.Errors += r.Errors
		total.latency = append(total.latency, r.latency...)
	}
	slices.Sort(total.latency)
	return total
}

func drive(address string, request []byte, deadline time.Time, status int) (r Result) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return Result{Errors: 1}
	}
	defer conn.Close() //nolint:errcheck // what was answered has been counted
	in := bufio.NewReaderSize(conn, 16<<10)
	for {
		before := time.Now()
		if before.After(deadline) {
			return r
		}
		if _, err := conn.Write(request); err != nil {
			r.Errors++
			return r
		}
		got, err := readAnswer(in)
		if err != nil || got != status {
			r.Errors++
		}
		if err != nil {
			return r
		}
		r.Requests++
		r.latency = append(r.latency, time.Since(before))
	}
}

var errFraming = fmt.Errorf("an answer without Content-Length")

func readAnswer(in *bufio.Reader) (status int, err error) {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if first {
			if len(line) < 12 {
				return 0, errFraming
			}
			status, _ = strconv.Atoi(string(line[9:12]))
			continue
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return status, errFraming
	}
	_, err = io.CopyN(io.Discard, in, int64(length))
	return status, err
}

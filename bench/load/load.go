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
	deadline := time.Now().Add(d)
	return together(connections, func(int) Result { return drive(address, request, deadline, status) })
}

// together runs each connection on a goroutine of its own.
func together(connections int, run func(connection int) Result) Result {
	start := time.Now()
	results := make([]Result, connections)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i] = run(i) })
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
		if !r.exchange(conn, in, request, before, status) {
			return r
		}
	}
}

// exchange sends a request and counts its answer, whose latency is from a given time on. It says whether the connection
// can go on.
func (r *Result) exchange(conn net.Conn, in *bufio.Reader, request []byte, from time.Time, status int) bool {
	if _, err := conn.Write(request); err != nil {
		r.Errors++
		return false
	}
	got, err := readAnswer(in)
	if err != nil || got != status {
		r.Errors++
	}
	if err != nil {
		return false
	}
	r.Requests++
	r.latency = append(r.latency, time.Since(from))
	return true
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

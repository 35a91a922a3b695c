package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"gatehouse/bench/load"
)

// sample is what a run costs, in the order of the columns.
type sample [columns]float64

// columns: CPU time per request in us, requests/s, p50 and p99 in us, peak memory in MB; p99 in us at half the rate.
const columns = 6

// measured drives a program and reads its CPU time before and after.
func measured(pid, listen int, w work, seconds int) (s sample, err error) {
	before, err := load.CPUTime(pid)
	if err != nil {
		return s, err
	}
	start := time.Now()
	r, err := drive(listen, w, seconds)
	if err != nil {
		return s, err
	}
	took := time.Since(start)
	after, err := load.CPUTime(pid)
	if err != nil {
		return s, err
	}
	peak, err := load.PeakMemory(pid)
	if err != nil {
		return s, err
	}
	return sample{
		float64((after - before).Microseconds()) / float64(r.requests), float64(r.requests) / took.Seconds(),
		float64(r.p50.Microseconds()), float64(r.p99.Microseconds()), float64(peak) / 1e6, 0,
	}, nil
}

// atHalf is the 99th percentile in us of a program at half the rate that it could do.
func atHalf(listen int, w work, perSecond float64, seconds int) (float64, error) {
	request := "GET /order/1 HTTP/1.1\r\nHost: bench.test\r\nUser-Agent: bench\r\n"
	if w.token != "" {
		request += "Authorization: Bearer " + w.token + "\r\n"
	}
	address := fmt.Sprintf("127.0.0.1:%d", listen)
	r := load.Paced(address, []byte(request+"\r\n"), 64, int(perSecond/2), time.Duration(seconds)*time.Second, 200)
	if r.Errors > 0 || r.Requests == 0 {
		return 0, fmt.Errorf("%d of %d answers weren't 200", r.Errors, r.Requests)
	}
	return float64(r.Percentile(0.99).Microseconds()), nil
}

// result is what wrk reports.
type result struct {
	requests int
	p50, p99 time.Duration
}

// drive has wrk send requests over 64 connections.
func drive(listen int, w work, seconds int) (r result, err error) {
	arguments := []string{"-c", "1", "wrk", "-t1", "-c64", "-d" + strconv.Itoa(seconds) + "s", "--latency"}
	if w.token != "" {
		arguments = append(arguments, "-H", "Authorization: Bearer "+w.token)
	}
	out, err := exec.Command("taskset", append(arguments, fmt.Sprintf("http://127.0.0.1:%d/order/1", listen))...).CombinedOutput()
	if err != nil {
		return r, fmt.Errorf("wrk: %w: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		switch {
		case strings.Contains(line, "Non-2xx") || strings.Contains(line, "Socket errors"):
			return r, fmt.Errorf("wrk: %s", strings.TrimSpace(line))
		case len(fields) == 2 && fields[0] == "50%":
			r.p50, err = time.ParseDuration(fields[1])
		case len(fields) == 2 && fields[0] == "99%":
			r.p99, err = time.ParseDuration(fields[1])
		case len(fields) > 3 && fields[1] == "requests" && fields[2] == "in":
			r.requests, err = strconv.Atoi(fields[0])
		}
		if err != nil {
			return r, fmt.Errorf("wrk: %s: %w", line, err)
		}
	}
	if r.requests == 0 {
		return r, fmt.Errorf("wrk: no requests: %s", out)
	}
	return r, nil
}

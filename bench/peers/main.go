package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gatehouse/helper/server/servertest"
)

func main() {
	var o options
	flag.StringVar(&o.binary, "gatehouse", "", "the gatehouse `binary` (default: built from this tree)")
	flag.IntVar(&o.seconds, "seconds", 8, "`seconds` a run")
	flag.IntVar(&o.runs, "runs", 3, "runs of each program")
	flag.StringVar(&o.only, "only", "", "only programs and work whose `name` has this in it, such as \"gatehouse\" or \"ES256\"")
	flag.StringVar(&o.profile, "profile", "", "write CPU profiles of gatehouse to this `folder`; that costs time of its own")
	flag.Parse()
	log.SetFlags(0)
	if err := o.measure(); err != nil {
		log.Fatal(err)
	}
}

type options struct {
	binary, only, profile string
	seconds, runs         int
	folder                string
	upstream              int
}

func (o *options) measure() error {
	for _, tool := range []string{"haproxy", "nginx", "wrk", "taskset"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is missing: apt-get install haproxy nginx-light wrk util-linux", tool)
		}
	}
	// This process paces requests itself, and must leave the proxy's CPU alone.
	out, err := exec.Command("taskset", "-a", "-cp", "1", strconv.Itoa(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("taskset: %w: %s", err, out)
	}
	if o.folder, err = os.MkdirTemp("", "gatehouse-peers"); err != nil {
		return err
	}
	defer os.RemoveAll(o.folder)
	if o.binary == "" {
		o.binary = filepath.Join(o.folder, "gatehouse")
		if out, err := exec.Command("go", "build", "-o", o.binary, ".").CombinedOutput(); err != nil {
			return fmt.Errorf("building gatehouse: %w\n%s", err, out)
		}
	}
	all, err := works(o.folder)
	if err != nil {
		return err
	}
	if o.upstream, err = servertest.FreePort(); err != nil {
		return err
	}
	file := filepath.Join(o.folder, "upstream.conf")
	upstream, err := launch("1", "upstream.conf", file, values{Listen: o.upstream, Upstream: o.upstream, Folder: o.folder, Body: strings.Repeat("x", 512)},
		[]string{"nginx", "-c", file})
	if err != nil {
		return err
	}
	defer upstream.stop()
	for _, w := range all {
		if err := o.compare(w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// compare runs the programs in rotation on one work, and prints the medians. The ratios are medians, too, of each round's:
// the machine may change between rounds, and others' work on it is in all programs of a round.
func (o *options) compare(w work) error {
	table := slices.DeleteFunc(programs(o.binary), func(p program) bool {
		return w.algorithm != "" && p.full == "" || !strings.Contains(p.name, o.only) && !strings.Contains(w.name, o.only)
	})
	samples := make([][]sample, len(table))
	for range o.runs {
		for i, p := range table {
			s, err := o.run(p, w)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			samples[i] = append(samples[i], s)
		}
	}
	if len(table) == 0 {
		return nil
	}
	fmt.Printf("\n%-26s %16s %16s %16s %16s %16s %16s\n", w.name, "CPU us/request", "requests/s", "p50 us", "p99 us", "peak MB", "p99 us at half")
	for i, p := range table {
		fmt.Printf("%-26s", p.name)
		for c := range columns {
			fmt.Printf(" %8.1f (%4.2fx)", median(column(samples[i], c)), median(ratios(samples[i], samples[0], c)))
		}
		fmt.Println()
	}
	return nil
}

func column(samples []sample, c int) (values []float64) {
	for _, s := range samples {
		values = append(values, s[c])
	}
	return values
}

func ratios(samples, base []sample, c int) (values []float64) {
	for i, s := range samples {
		values = append(values, s[c]/base[i][c])
	}
	return values
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// run starts a program, drives it after a warm-up, and stops it.
func (o *options) run(p program, w work) (s sample, err error) {
	v := values{Upstream: o.upstream, Folder: o.folder, Algorithm: w.algorithm, Key: w.key, KeySource: "public_key_file", Lane: p.lane}
	if w.key == secret {
		v.KeySource = "secret"
	}
	if v.Listen, err = servertest.FreePort(); err != nil {
		return s, err
	}
	if v.Metrics, err = servertest.FreePort(); err != nil {
		return s, err
	}
	template := p.plain
	if w.algorithm != "" {
		template = p.full
	}
	file := filepath.Join(o.folder, template)
	running, err := launch("0", template, file, v, p.start(file))
	if err != nil {
		return s, err
	}
	defer running.stop()
	if err := check(v.Listen, w); err != nil {
		return s, err
	}
	if _, err := drive(v.Listen, w, 2); err != nil {
		return s, err
	}
	if o.profile != "" && p.lane != "" {
		name := strings.NewReplacer(" ", "-", ",", "", ":", "").Replace(p.name + " " + w.name)
		done := make(chan error, 1)
		go func() { done <- profile(v.Metrics, o.seconds-1, filepath.Join(o.profile, name+".pprof")) }()
		defer func() { err = cmp.Or(err, <-done) }()
	}
	if s, err = measured(running.Process.Pid, v.Listen, w, o.seconds); err != nil {
		return s, err
	}
	if s[columns-1], err = atHalf(v.Listen, w, s[1], o.seconds); err != nil {
		return s, err
	}
	return s, check(v.Listen, w)
}

func profile(admin, seconds int, file string) error {
	res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/profile?seconds=%d", admin, seconds))
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

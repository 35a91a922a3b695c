// Command check evaluates every query of a dashboard in a running Prometheus:
//
//	go run ./grafana/check -prometheus http://127.0.0.1:9091 [-dashboard FILE] [-nonempty]
//
// It ends with 1 if Prometheus refuses a query or, with -nonempty, if one has no result, and names each. A query that
// ends with "> 0" shows only what occurs, so it may have none. The command waits up to -wait until Prometheus has scraped
// a gateway twice.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"gatehouse/grafana"
)

func main() {
	prometheus := flag.String("prometheus", "http://127.0.0.1:9091", "address of Prometheus")
	file := flag.String("dashboard", "grafana/dashboards/gatehouse.json", "dashboard to check")
	nonempty := flag.Bool("nonempty", false, "a query without a result is a failure")
	wait := flag.Duration("wait", 30*time.Second, "how long to wait for the first scrape")
	flag.Parse()
	if err := check(*prometheus, *file, *nonempty, *wait); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func check(prometheus, file string, nonempty bool, wait time.Duration) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	queries, err := grafana.Queries(raw)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait+time.Minute)
	defer cancel()
	if err := scraped(ctx, prometheus, wait); err != nil {
		return err
	}
	var problems []error
	for _, q := range queries {
		n, err := results(ctx, prometheus, q.Expr)
		if err == nil && n == 0 && nonempty && !strings.HasSuffix(q.Expr, "> 0") {
			err = errors.New("no result")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w: %s", q.Where, err, q.Expr))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	fmt.Printf("%s: %d queries are fine\n", file, len(queries))
	return nil
}

// scraped waits until Prometheus has two samples of a gateway, so that a rate has a result.
func scraped(ctx context.Context, prometheus string, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		n, err := results(ctx, prometheus, "rate(gateway_panics_total[1m])")
		if n > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("waiting for a scrape of a gateway"), err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// results asks Prometheus how many series an expression gives now.
func results(ctx context.Context, prometheus, expr string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, prometheus+"/api/v1/query?query="+url.QueryEscape(expr), nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	var body struct {
		Error string `json:"error"`
		Data  struct {
			Result []json.RawMessage `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return 0, fmt.Errorf("decoding the answer of Prometheus (%s): %w", answer.Status, err)
	}
	if body.Error != "" {
		return 0, errors.New(body.Error)
	}
	return len(body.Data.Result), nil
}

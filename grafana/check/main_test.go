package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCheckTellsWhatPrometheusSaysOfAQuery(t *testing.T) {
	const (
		full  = `{"status":"success","data":{"result":[{"metric":{},"value":[0,"1"]}]}}`
		empty = `{"status":"success","data":{"result":[]}}`
		wrong = `{"status":"error","error":"parse error"}`
	)
	for _, row := range []struct {
		name, answer string
		nonempty     bool
		want         string
	}{
		{"a query with a result is fine", full, true, ""},
		{"a query without a result is fine", empty, false, ""},
		{"a query without a result fails where one is asked for", empty, true, "Traffic: no result: a_total"},
		{"a query that Prometheus refuses fails", wrong, false, "Traffic: parse error: a_total"},
		{"an answer that isn't Prometheus' fails", "<html>", false, "decoding the answer of Prometheus (200 OK)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := row.answer
				if strings.Contains(r.FormValue("query"), "gateway_panics_total") {
					answer = full // the question whether a gateway was scraped
				}
				_, _ = io.WriteString(w, answer)
			}))
			defer prometheus.Close()
			file := filepath.Join(t.TempDir(), "d.json")
			if err := os.WriteFile(file, []byte(`{"panels":[{"title":"Traffic","targets":[{"expr":"a_total"},{"expr":"b_total > 0"}]}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			err := check(prometheus.URL, file, row.nonempty, time.Minute)
			if row.nonempty && strings.Contains(fmt.Sprint(err), "b_total") {
				t.Errorf("a query for what occurs fails because nothing does: %v", err)
			}
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("check: %v, want %q", err, row.want)
			}
		})
	}
}

func TestCheckFailsWhereNoGatewayIsScraped(t *testing.T) {
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"success","data":{"result":[]}}`)
	}))
	defer prometheus.Close()
	err := check(prometheus.URL, "../dashboards/gatehouse.json", false, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "waiting for a scrape of a gateway") {
		t.Errorf("check: %v", err)
	}
}

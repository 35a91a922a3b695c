package command

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// A WebSocket keeps the config that it began with, and the metrics say so until it ends.
func TestTheMetricsTellOfConfigsThatAreStillUsed(t *testing.T) {
	backend := newUpgrader(t, "")
	text := func(timeout int) string {
		return fmt.Sprintf("server: {listen: \"127.0.0.1:0\", admin: \"127.0.0.1:0\"}\n"+
			"upstreams: {v1: {url: %q, timeouts: {connect: %ds}, route: {auth: none}}}\n", backend.URL, timeout)
	}
	path := file(t, "config.yaml", text(1))
	r := start(t, nil, "--config", path)
	public, admin := r.addresses(t)
	reload := func(timeout int) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text(timeout)), 0o600); err != nil {
			t.Fatal(err)
		}
		if said := askAdmin(t, http.MethodPost, "http://"+admin+"/api/reload", "", ""); strings.Contains(said, `"result":"failure"`) {
			t.Fatal(said)
		}
	}
	retiring := func(want int) {
		t.Helper()
		line := fmt.Sprintf("\ngateway_config_snapshots_retiring %d\n", want)
		for deadline := time.Now().Add(20 * time.Second); ; { // each round takes a request's time
			body := get(admin, "/metrics").body
			if strings.Contains(body, line) {
				return
			}
			if time.Now().After(deadline) {
				_, rest, _ := strings.Cut(body, "\ngateway_config_snapshots_retiring ")
				t.Fatalf("%.10q configs retire, want %d", rest, want)
			}
		}
	}
	first, _ := upgrade(t, public)
	retiring(0)
	reload(2)
	retiring(1)
	second, _ := upgrade(t, public)
	reload(3)
	reload(4) // nothing uses the third
	retiring(2)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	retiring(1)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	retiring(0)
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
}

package health_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/helper/health"
)

// Over a real listener: what the backend sees, a redirect that isn't followed, one
// connection for all checks, and an end that is noticed.
func TestChecksOverARealListener(t *testing.T) {
	var connections atomic.Int64
	seen := make(chan *http.Request, 100)
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
		w.Write([]byte(strings.Repeat("a long body\n", 1000)))
	}))
	backend.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	backend.Start()
	address, err := url.Parse(backend.URL + "/healthz?deep=1")
	if err != nil {
		t.Fatal(err)
	}

	down := make(chan error, 1)
	quick := health.Checks{
		Interval: time.Millisecond, Timeout: time.Minute,
		Thresholds: health.Thresholds{HealthyAfter: 2, UnhealthyAfter: 3},
		Expect:     func(status int) bool { return status == http.StatusFound },
		OnChange:   func(_ string, cause error) { down <- cause },
	}
	transport := new(http.Transport)
	checker := health.NewChecker(quick, []health.Target{{Name: backend.URL, URL: address, Host: "order.internal", Transport: transport}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- checker.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run returned %v", err)
		}
	}()

	for range 20 {
		r := <-seen
		if r.Method != http.MethodGet || r.RequestURI != "/healthz?deep=1" || r.Host != "order.internal" || r.UserAgent() != "gatehouse-health" {
			t.Fatalf("the backend saw %s %s for host %s by %s", r.Method, r.RequestURI, r.Host, r.UserAgent())
		}
	}
	<-checker.Ready()
	if n := connections.Load(); !checker.Up(0) || n != 1 {
		t.Errorf("up is %v after 20 checks on %d connections", checker.Up(0), n)
	}
	backend.Close()
	if cause := <-down; cause == nil || checker.Up(0) {
		t.Errorf("up is %v, because of %v, when nobody listens", checker.Up(0), cause)
	}
}

func TestTheEndOfTheChecksClosesTheirConnections(t *testing.T) {
	closed := make(chan struct{})
	backend := httptest.NewUnstartedServer(http.NotFoundHandler())
	backend.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	backend.Start()
	defer backend.Close()
	address, err := url.Parse(backend.URL)
	if err != nil {
		t.Fatal(err)
	}
	hourly := health.Checks{Interval: time.Hour, Timeout: time.Minute, Expect: func(status int) bool { return status == http.StatusNotFound }}
	checker := health.NewChecker(hourly, []health.Target{{Name: backend.URL, URL: address, Transport: new(http.Transport)}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- checker.Run(ctx) }()
	<-checker.Ready()
	cancel()
	<-done
	<-closed
}

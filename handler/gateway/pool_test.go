package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// until waits for what happens on another goroutine.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-deadline:
			t.Fatalf("%s didn't happen", what)
		case <-tick.C:
		}
	}
}

// A backend that fails its checks gets nothing, and is shown; when none is left
// the client is told, and no other route takes the request.
func TestChecks(t *testing.T) {
	var ill atomic.Bool
	checked := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		if strings.HasPrefix(head, "GET /well?x ") && ill.Load() {
			_, _ = io.WriteString(conn, "HTTP/1.1 500 Ill\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		}
		_, _ = io.WriteString(conn, okAnswer)
	})
	other := newRawBackend(t, says(okAnswer))
	s := start(t, other.Addr().String(), fmt.Sprintf(`
upstreams:
  app: {url: "http://%s/base", health: {path: "/well?x", interval: 20ms, unhealthy_after: 2, healthy_after: 2}, breaker: {failures: 1}}
  rest: {url: "http://BACKEND"}
routes:
  - {path: /sales/api, upstream: app, auth: none}
  - {path: /, upstream: rest, auth: none}
`, checked.Addr()))
	until(t, "the first check", func() bool { known, _ := s.gw.Health(); return known })
	if got := s.get("/sales/api"); got.StatusCode != 200 {
		t.Fatalf("got %d", got.StatusCode)
	}
	ill.Store(true)
	until(t, "the fall", func() bool { _, down := s.gw.Health(); return len(down) == 1 && down[0] == "app" })
	if got := s.get("/sales/api"); got.StatusCode != 503 || got.code() != "no_backend" || got.Header.Get("Retry-After") == "" || len(other.seen()) > 0 {
		t.Errorf("without a backend: %d %s", got.StatusCode, got.body)
	}
	if u := s.gw.Upstreams()[0]; u.Backends[0].State != "down" || u.Backends[0].Healthy || u.Backends[0].Ejected || u.Backends[0].Draining {
		t.Errorf("it's shown as %+v", u)
	}
	ill.Store(false)
	until(t, "the return", func() bool { _, down := s.gw.Health(); return len(down) == 0 })
	if got := s.get("/sales/api"); got.StatusCode != 200 {
		t.Errorf("back again: %d", got.StatusCode)
	}
	for _, want := range []string{`"backend down"`, `"backend up"`, "it answered with status 500"} {
		until(t, "the log line "+want, func() bool { s.lines(); return strings.Contains(s.log.String(), want) })
	}
	if s.counts.get("transition app 2") != 0 {
		t.Error("the breaker judged the absence of a backend")
	}
}

// The checks go on over reloads: those of a pool that comes back while a request
// still holds the old one, too, and each backend is checked once at a time.
func TestChecksOverReloads(t *testing.T) {
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	var ill atomic.Bool
	backend := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		switch {
		case strings.HasPrefix(head, "GET /well ") && ill.Load():
			_, _ = io.WriteString(conn, "HTTP/1.1 500 Ill\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		case strings.HasPrefix(head, "GET /hold "):
			arrived <- struct{}{}
			<-release
		}
		_, _ = io.WriteString(conn, okAnswer)
	})
	const checked = `upstreams: {app: {url: "http://BACKEND", health: {path: /well, interval: 20ms, unhealthy_after: 2}, route: {path: /, auth: none}}}`
	other := strings.Replace(checked, "20ms", "30ms", 1)
	s := start(t, backend.Addr().String(), checked)
	held := make(chan int)
	go func() { held <- s.status("GET", "/hold") }()
	wait(t, arrived, "the request at the backend")
	for _, yaml := range []string{other, checked} {
		if err := s.gw.Load(parse(t, backend.Addr().String(), yaml)); err != nil {
			t.Fatal(err)
		}
	}
	ill.Store(true)
	until(t, "the fall", func() bool { _, down := s.gw.Health(); return len(down) == 1 })
	until(t, "the log line", func() bool { s.logger.Sync(t.Context()); return strings.Contains(s.log.String(), `"backend down"`) })
	ill.Store(false)
	until(t, "the return", func() bool { _, down := s.gw.Health(); return len(down) == 0 })
	close(release)
	if got := <-held; got != 200 {
		t.Errorf("the request over two reloads: %d", got)
	}
	s.lines()
	if n := strings.Count(s.log.String(), `"backend down"`); n != 1 {
		t.Errorf("the fall was logged %d times", n)
	}
}

// A gateway isn't ready before each backend has been checked.
func TestReadyAfterTheFirstChecks(t *testing.T) {
	release := make(chan struct{})
	slow := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		<-release
		_, _ = io.WriteString(conn, okAnswer)
	})
	s := start(t, slow.Addr().String(), `upstreams: {app: {url: "http://BACKEND", health: {path: /well, timeout: 10s}, route: {auth: none}}}`)
	if known, down := s.gw.Health(); known || len(down) > 0 {
		t.Errorf("before the first result: known %v, down %v", known, down)
	}
	close(release)
	until(t, "the first check", func() bool { known, _ := s.gw.Health(); return known })
}

func TestRequestsPastTheConcurrencyAreRefusedAtOnce(t *testing.T) {
	arrived, release := make(chan struct{}, 2), make(chan struct{})
	backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		arrived <- struct{}{}
		<-release
		_, _ = io.WriteString(conn, okAnswer)
	})
	s := start(t, backend.Addr().String(), `upstreams: {app: {url: "http://BACKEND", concurrency: {max: 2}, breaker: {failures: 1}, route: {path: /, auth: none}}}`)
	var held sync.WaitGroup
	for range 2 {
		held.Go(func() {
			if got := s.status("GET", "/"); got != 200 {
				t.Errorf("one that was let in: %d", got)
			}
		})
		wait(t, arrived, "a request at the backend")
	}
	if got := s.get("/"); got.StatusCode != 503 || got.code() != "overloaded" || got.Header.Get("Retry-After") == "" {
		t.Errorf("the third: %d %s", got.StatusCode, got.body)
	}
	close(release)
	held.Wait()
	if got := s.get("/"); got.StatusCode != 200 {
		t.Errorf("later: %d", got.StatusCode)
	}
}

// A backend that drains finishes what it has, gets nothing new, and gets requests
// again when it is told to.
func TestABackendIsDrained(t *testing.T) {
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	a := newRawBackend(t, func(head string, conn net.Conn, _ *bufio.Reader) {
		if strings.HasPrefix(head, "GET /slow ") {
			arrived <- struct{}{}
			<-release
		}
		_, _ = io.WriteString(conn, okAnswer)
	})
	b := newRawBackend(t, says(okAnswer))
	yaml := fmt.Sprintf(`upstreams: {app: {backends: [{url: "http://%s"}, {url: "http://%s"}], route: {path: /, auth: none}}}`, a.Addr(), b.Addr())
	s := start(t, "", yaml)
	held := make(chan int)
	go func() { held <- s.status("GET", "/slow") }()
	wait(t, arrived, "the request at the backend")
	url := "http://" + a.Addr().String()
	if err := s.gw.DrainBackend("app", url, true); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		s.get("/")
	}
	if len(a.seen()) != 1 || len(b.seen()) != 4 {
		t.Errorf("the draining backend has seen %d requests, the other %d", len(a.seen()), len(b.seen()))
	}
	if shown := s.gw.Upstreams()[0].Backends[0]; !shown.Draining || shown.InFlight != 1 {
		t.Errorf("it's shown as %+v", shown)
	}
	close(release)
	if got := <-held; got != 200 {
		t.Errorf("the request in flight: %d", got)
	}
	if err := s.gw.Load(parse(t, "", yaml+"\nlog: {level: debug}")); err != nil {
		t.Fatal(err)
	}
	if !s.gw.Upstreams()[0].Backends[0].Draining {
		t.Error("a reload forgot it")
	}
	if err := s.gw.DrainBackend("app", url, false); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.get("/")
	}
	if len(a.seen()) != 2 {
		t.Error("it got no request after it was taken back")
	}
	for _, wrong := range [][2]string{{"app", "http://nobody"}, {"nobody", url}} {
		if s.gw.DrainBackend(wrong[0], wrong[1], true) == nil {
			t.Errorf("%v was drained", wrong)
		}
	}
}

// When everything fails, retries stay a small part of the requests.
func TestRetriesAreBounded(t *testing.T) {
	failing := newRawBackend(t, says("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	s := start(t, failing.Addr().String(), `upstreams: {app: {url: "http://BACKEND", retry: {backoff: 1ms, budget: 0.2}, breaker: {failures: 0}, route: {path: /, auth: none}}}`)
	began := time.Now()
	for range 100 {
		s.get("/")
	}
	retries := s.counts.get("retried app 503")
	if most := 20 + 3*(int(time.Since(began).Seconds())+1); retries < 20 || retries > most {
		t.Errorf("%d retries for 100 requests, at most %d", retries, most)
	}
	if exhausted := s.counts.get("budget app"); exhausted != 100-retries || len(failing.seen()) != 100+retries {
		t.Errorf("%d retries, %d refused for the budget, %d requests at the backend", retries, exhausted, len(failing.seen()))
	}
}

package gateway_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/handler/gateway"
)

var (
	stressReloads = flag.Int("reloads", 200, "how many reloads TestReloadStress makes")
	stressRate    = flag.Int("rate", 300, "how many requests a second it makes meanwhile")
)

const stressConfig = `
upstreams:
  app: {url: "http://BACKEND", connections: {max_idle: 2}, route: {path: /, auth: none}}
  broken: {url: "http://127.0.0.1:1", breaker: {failures: 1, open_for: 1h}, retry: {attempts: 1}, route: {auth: none}}
  limited: {url: "http://BACKEND", route: {auth: none, limit: {rate: 1/h, burst: 5}}}
`

// versions are texts of the file by turns, with what comes of them.
func versions(n int, text string) (content, result string) {
	switch n % 4 {
	case 0: // a route more, with an upstream of its own
		return text + fmt.Sprintf("  more%d: {url: \"http://127.0.0.1:2\", timeouts: {connect: %ds}, route: {auth: none}}\n", n, n%7+1), gateway.ReloadSuccess
	case 1:
		return text, gateway.ReloadSuccess
	case 2: // half a file, as somebody writes it
		return text[:len(text)-len(text)/3], gateway.ReloadFailure
	default:
		return text + "  bad: {nonsense: 1}\n", gateway.ReloadFailure
	}
}

// newSocketBackend answers requests, and sends back what comes over an upgraded connection.
func newSocketBackend(t *testing.T) *httptest.Server {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.WriteString(w, "ok")
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, switching)
		_, _ = io.Copy(conn, rw)
	}))
	t.Cleanup(backend.Close)
	return backend
}

// openSocket opens an upgraded connection that may stay open longer than other tests' clients.
func (s *stand) openSocket() *client {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	c := &client{s.t, conn, bufio.NewReader(conn)}
	c.send(upgrade("/socket", "Upgrade", "websocket"))
	if head := c.head(); !strings.HasPrefix(head, "HTTP/1.1 101 ") {
		s.t.Fatalf("got %q", head)
	}
	return c
}

// Good, bad and half files take turns under load. No request fails, no WebSocket ends, no state is lost, nothing piles up.
// The whole of it: go test -run TestReloadStress -reloads 1000 -rate 1000 -v
func TestReloadStress(t *testing.T) {
	addr := newSocketBackend(t).Listener.Addr().String()
	text := strings.ReplaceAll(stressConfig, "BACKEND", addr)
	file := filepath.Join(t.TempDir(), "config.yaml")
	s := start(t, addr, stressConfig)
	r := gateway.NewReloader(gateway.ReloadOptions{
		Path: file, Env: func(string) (string, bool) { return "", false }, Gateway: s.gw, Running: parse(t, addr, stressConfig),
		Log: s.logger.Zap(), Done: func(string, string, time.Time) {},
	})
	st := s.newState()
	l := s.load(*stressRate)
	took := make([]time.Duration, *stressReloads)
	for n := range took {
		content, result := versions(n, text)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if done := r.Reload("signal"); done.Result != result {
			t.Fatalf("reload %d: %s, want %s: %v", n, done.Result, result, done.Problems)
		}
		took[n] = time.Since(begun)
		if n%20 == 0 {
			st.talk(n)
		}
		l.until(n)
	}
	l.end(t)
	slices.Sort(took)
	t.Logf("%d reloads, median %v, longest %v, under %d requests", len(took), took[len(took)/2], took[len(took)-1], l.ok.Load())
	st.kept()
}

// state is what reloads may not lose, and what they may not pile up.
type state struct {
	*stand
	sockets                 []*client
	goroutines, descriptors int
}

// newState opens a breaker, uses up most of a bucket, and opens a few WebSockets.
func (s *stand) newState() *state {
	s.t.Helper()
	st := &state{stand: s}
	s.get("/broken")
	for range 3 {
		s.get("/limited")
	}
	for range 5 {
		st.sockets = append(st.sockets, s.openSocket())
	}
	st.goroutines, st.descriptors = runtime.NumGoroutine(), openFiles(s.t)
	return st
}

// talk sends a message over each WebSocket and expects it back.
func (st *state) talk(n int) {
	st.t.Helper()
	for i, c := range st.sockets {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		message := fmt.Sprintf("%d over %d", n, i)
		c.send(message)
		c.expect(message)
	}
}

// kept fails unless everything is as it was. At rest a load has left no more than the idle connections that the config
// allows; ending the others takes a moment.
func (st *state) kept() {
	st.t.Helper()
	const left = 20
	var grown, opened int
	for deadline := time.Now().Add(10 * time.Second); ; ticks(20) {
		grown, opened = runtime.NumGoroutine()-st.goroutines, openFiles(st.t)-st.descriptors
		if grown <= left && opened <= left || time.Now().After(deadline) {
			break
		}
	}
	st.t.Logf("%d goroutines and %d descriptors more than before", grown, opened)
	if grown > left || opened > left {
		st.t.Errorf("%d goroutines and %d descriptors more than before", grown, opened)
	}
	if got := st.get("/broken"); got.code() != "breaker_open" {
		st.t.Errorf("the breaker was forgotten: %d %s", got.StatusCode, got.body)
	}
	for i, status := range []int{200, 200, 429} {
		if got := st.get("/limited"); got.StatusCode != status {
			st.t.Errorf("request %d after the reloads is %d: the bucket was forgotten", i, got.StatusCode)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// requests is a load at a rate.
type requests struct {
	rate   int
	begun  time.Time
	ok     atomic.Int64
	failed atomic.Int64
	first  atomic.Pointer[string] // why the first one failed
	stop   chan struct{}
	wg     sync.WaitGroup
}

// load sends requests at a rate, as far as the machine allows.
func (s *stand) load(rate int) *requests {
	l := &requests{rate: rate, begun: time.Now(), stop: make(chan struct{})}
	due := make(chan struct{})
	l.wg.Go(func() {
		defer close(due)
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case <-tick.C:
				due <- struct{}{}
			}
		}
	})
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	for range 8 {
		l.wg.Go(func() {
			defer transport.CloseIdleConnections()
			for range due {
				l.send(transport, s.URL)
			}
		})
	}
	return l
}

func (l *requests) send(transport *http.Transport, url string) {
	request, err := http.NewRequest(http.MethodPost, url+"/x", strings.NewReader("hello"))
	if err == nil {
		var answer *http.Response
		if answer, err = transport.RoundTrip(request); err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if err == nil && answer.StatusCode != 200 {
				err = fmt.Errorf("status %d", answer.StatusCode)
			}
		}
	}
	if err != nil {
		l.failed.Add(1)
		why := err.Error()
		l.first.CompareAndSwap(nil, &why)
		return
	}
	l.ok.Add(1)
}

// until waits until there have been as many requests as there were reloads before the n-th.
func (l *requests) until(n int) {
	for l.ok.Load()+l.failed.Load() < int64(n) {
		ticks(1)
	}
}

func (l *requests) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.wg.Wait()
	if l.failed.Load() > 0 {
		t.Errorf("%d requests failed, the first one with %s; %d didn't", l.failed.Load(), *l.first.Load(), l.ok.Load())
	}
}

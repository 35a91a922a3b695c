package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
)

func parse(t *testing.T, backend, yaml string) *config.Config {
	t.Helper()
	yaml = strings.NewReplacer("BACKEND", backend, "SECRET", secret).Replace(yaml)
	cfg, err := config.Parse("test.yaml", []byte(yaml), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatalf("config:\n%v", err)
	}
	for name, u := range cfg.Upstreams {
		u.Connections.Lane = *lane
		cfg.Upstreams[name] = u
	}
	return cfg
}

const reloadConfig = `
upstreams:
  a: {url: "http://BACKEND", breaker: {failures: 1, open_for: 1h}, retry: {attempts: 1}, route: {auth: none, limit: {rate: 1/h, burst: 5}}}
  b: {url: "http://BACKEND", breaker: {failures: 1, open_for: 1h}, retry: {attempts: 1}, route: {auth: none}}
`

// What didn't change keeps its state: an open breaker stays open, a used bucket
// stays used.
func TestReloadKeepsStateOfWhatStays(t *testing.T) {
	var failing atomic.Bool
	backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		if failing.Load() {
			_, _ = io.WriteString(conn, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		}
		_, _ = io.WriteString(conn, okAnswer)
	})
	addr := backend.Addr().String()
	s := start(t, addr, reloadConfig)
	for range 4 {
		s.get("/a")
	}
	failing.Store(true)
	s.get("/b") // opens b's breaker
	failing.Store(false)

	if err := s.gw.Load(parse(t, addr, reloadConfig+"  c: {url: \"http://BACKEND\", route: {auth: none}}\n")); err != nil {
		t.Fatal(err)
	}
	if got := s.get("/c"); got.StatusCode != 200 {
		t.Errorf("the new route answers %d", got.StatusCode)
	}
	if got := s.get("/b"); got.code() != "breaker_open" {
		t.Errorf("b's breaker was forgotten: %d %s", got.StatusCode, got.body)
	}
	if got := s.get("/a"); got.StatusCode != 200 || got.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("a's bucket was forgotten: %d, remaining %q", got.StatusCode, got.Header.Get("RateLimit-Remaining"))
	}
	if got := s.get("/a"); got.StatusCode != 429 {
		t.Errorf("a's bucket was forgotten: %d", got.StatusCode)
	}

	changed := strings.Replace(reloadConfig, "b: {url: \"http://BACKEND\", breaker: {failures: 1,", "b: {url: \"http://BACKEND\", breaker: {failures: 2,", 1)
	if err := s.gw.Load(parse(t, addr, changed)); err != nil {
		t.Fatal(err)
	}
	if got := s.get("/b"); got.StatusCode != 200 {
		t.Errorf("a breaker with new settings begins closed, but answers %d", got.StatusCode)
	}
	if got := s.get("/c"); got.StatusCode != 404 {
		t.Errorf("the removed route answers %d", got.StatusCode)
	}
}

// A request that has begun ends with what it began with, also when its route
// and its backend are gone.
func TestReloadLetsRequestsEnd(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
		arrived <- struct{}{}
		<-answer
		_, _ = io.WriteString(conn, okAnswer)
	})
	s := start(t, backend.Addr().String(), reloadConfig)
	status := make(chan int, 1)
	go func() { status <- s.get("/a").StatusCode }()
	<-arrived
	if err := s.gw.Load(parse(t, "127.0.0.1:1", "upstreams: {z: {url: \"http://BACKEND\", route: {auth: none}}}")); err != nil {
		t.Fatal(err)
	}
	close(answer)
	if got := <-status; got != 200 {
		t.Errorf("the request in flight got %d", got)
	}
}

// Under load no request fails while two configurations take turns.
func TestReloadUnderLoad(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	addr := backend.Addr().String()
	s := start(t, addr, reloadConfig)
	other := parse(t, addr, "upstreams: {b: {url: \"http://BACKEND\", timeouts: {connect: 3s}, route: {auth: none}}}")
	same := parse(t, addr, reloadConfig)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var served, failed atomic.Int64
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := s.get("/b"); got.StatusCode == 200 {
					served.Add(1)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	for range 100 {
		for _, cfg := range []*config.Config{other, same} {
			if err := s.gw.Load(cfg); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	wg.Wait()
	if failed.Load() > 0 || served.Load() == 0 {
		t.Errorf("%d requests failed, %d were served", failed.Load(), served.Load())
	}
}

// A file that is no good changes nothing, and says what is wrong; the running
// text's return is no failure any more (case L-07). Nor is the return of a file that was away.
func TestReloader(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	addr := backend.Addr().String()
	text := strings.NewReplacer("BACKEND", addr, "breaker:", "connections: {lane: "+*lane+"}, breaker:").Replace(reloadConfig)
	file := filepath.Join(t.TempDir(), "config.yaml")
	write := func(content string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	s := start(t, addr, reloadConfig)
	results := make(chan string, 10)
	r := gateway.NewReloader(gateway.ReloadOptions{
		Path: file, Env: func(string) (string, bool) { return "", false }, Gateway: s.gw, Running: parse(t, addr, reloadConfig), Log: s.logger.Zap(),
		Done: func(result, hash string, _ time.Time) { results <- result },
	})
	hash := r.Status().Hash
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	next := func(want string) {
		t.Helper()
		select {
		case got := <-results:
			if got != want {
				t.Fatalf("%s, want %s: %+v", got, want, r.Status().Last)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no reload, want %s", want)
		}
	}

	write(text + "  c: {nonsense: 1, url: \"http://" + addr + "\"}\n")
	next(gateway.ReloadFailure)
	status := r.Status()
	if status.Hash != hash || status.Rejected == nil || len(status.Rejected.Problems) == 0 || !strings.Contains(fmt.Sprint(status.Rejected.Problems), "nonsense") {
		t.Errorf("after a bad file: %+v", status)
	}
	if s.get("/b").StatusCode != 200 {
		t.Error("the running config doesn't serve any more")
	}

	missing := "auth: {revoked: {file: " + file + ".txt}, assertion: {key_file: " + file + ".pem}}\n"
	for mistake, says := range map[string]string{"": "", "sever: {}\n": ":2:1: sever: is not a key"} { // all of them, whatever else is wrong
		write(missing + mistake + text)
		next(gateway.ReloadFailure)
		got := strings.Join(r.Status().Rejected.Problems, "\n")
		for _, want := range []string{":1:24: auth.revoked.file: open ", ": auth.assertion.key_file: open ", says} {
			if !strings.Contains(got, want) {
				t.Errorf("two files that aren't there are reported as %s, want %s", got, want)
			}
		}
	}

	write(text)
	next(gateway.ReloadUnchanged)
	if status := r.Status(); status.Hash != hash || status.Rejected != nil {
		t.Errorf("after the running text has returned: %+v", status)
	}

	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	next(gateway.ReloadFailure)
	if status := r.Status(); status.Rejected == nil || !strings.Contains(fmt.Sprint(status.Rejected.Problems), file) {
		t.Errorf("after the file has gone: %+v", status)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	next(gateway.ReloadUnchanged)

	write("server: {listen: \":1\"}\n" + text + "  c: {url: \"http://" + addr + "\", route: {auth: none}}\n")
	next(gateway.ReloadFailure)
	if got := s.get("/c"); got.StatusCode != 404 || !strings.Contains(fmt.Sprint(r.Status().Rejected.Problems), "server.listen") {
		t.Errorf("a reload that needs a restart was applied by halves: %d %v", got.StatusCode, r.Status().Rejected)
	}
	write(text + "log:\n  format: console\nserver:\n  drain: {delay: 1s, timeout: 1s}\n  listen: \":1\"\n")
	next(gateway.ReloadFailure)
	line := strings.Count(text, "\n")
	for i, want := range []string{
		fmt.Sprintf("%s:%d:11: log.format: can't change ", file, line+2),
		fmt.Sprintf("%s:%d:18: server.drain.delay: can't change ", file, line+4),
		fmt.Sprintf("%s:%d:31: server.drain.timeout: can't change ", file, line+4),
		fmt.Sprintf("%s:%d:11: server.listen: can't change ", file, line+5),
	} {
		if got := r.Status().Rejected.Problems; len(got) != 4 || !strings.HasPrefix(got[i], want) {
			t.Errorf("what needs a restart is reported as %q, want %q", got, want)
		}
	}

	write(text + "  c: {url: \"http://" + addr + "\", route: {auth: none}}\n")
	next(gateway.ReloadSuccess)
	if status := r.Status(); status.Hash == hash || s.get("/c").StatusCode != 200 || status.Rejected != nil {
		t.Errorf("after a good file: %+v", status)
	}
}

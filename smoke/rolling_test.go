package smoke

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// target is a process as a balancer knows it.
type target struct {
	mu            sync.Mutex
	public, admin string
}

func (t *target) set(p *process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.public, t.admin = p.public, p.admin
}

func (t *target) get() (public, admin string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.public, t.admin
}

// balancer sends requests to two processes by turns, to those that say that they are ready. It sends one again only when
// its connection was refused: then it was never received.
type balancer struct {
	targets [2]target
	ready   [2]atomic.Bool
	ok      atomic.Int64
	failed  chan string
}

func (b *balancer) check(client *http.Client, i int) {
	_, admin := b.targets[i].get()
	answer, err := client.Get("http://" + admin + "/readyz")
	if err == nil {
		_ = answer.Body.Close()
	}
	b.ready[i].Store(err == nil && answer.StatusCode == 200)
}

func (b *balancer) request(client *http.Client, n int) {
	for try := range 4 {
		i := (n + try) % 2
		if !b.ready[i].Load() {
			continue
		}
		public, _ := b.targets[i].get()
		answer, err := client.Post("http://"+public+"/v1", "", nil)
		if errors.Is(err, syscall.ECONNREFUSED) {
			continue
		}
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if err == nil && answer.StatusCode != 200 {
				err = fmt.Errorf("status %d", answer.StatusCode)
			}
		}
		if err != nil {
			b.fail(err.Error())
			return
		}
		b.ok.Add(1)
		return
	}
	b.fail("no process was ready")
}

func (b *balancer) fail(why string) {
	select {
	case b.failed <- why:
	default: // enough is known
	}
}

// Each of two processes is stopped by SIGTERM and started again, by turns, and no request fails.
func TestRollingRestartsLoseNoRequest(t *testing.T) {
	gateway := build(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := "server: {drain: {delay: 500ms, timeout: 10s}}\nupstreams: {v1: {url: \"" + newEcho(t) + "\", route: {auth: none}}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *process {
		return gateway.start(t, "--config", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	}
	b := &balancer{failed: make(chan string, 5)}
	var processes [2]*process
	checker := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	for i := range processes {
		processes[i] = start()
		b.targets[i].set(processes[i])
		b.check(checker, i)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				b.check(checker, 0)
				b.check(checker, 1)
			}
		}
	})
	for range 4 {
		wg.Go(func() {
			client := &http.Client{Timeout: patience, Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					b.request(client, n)
				}
			}
		})
	}
	for round := range 4 {
		old := processes[round%2]
		old.signal(syscall.SIGTERM)
		if code := old.exit(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		processes[round%2] = start()
		b.targets[round%2].set(processes[round%2])
		for !b.ready[round%2].Load() {
			processes[round%2].metrics(t) // each round takes a request's time
		}
	}
	close(stop)
	wg.Wait()
	close(b.failed)
	for why := range b.failed {
		t.Error(why)
	}
	t.Logf("%d requests", b.ok.Load())
}

package smoke

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// load sends requests until it is told to stop. Half of its clients keep their connections.
type load struct {
	ok   atomic.Int64
	stop chan struct{}
	wg   sync.WaitGroup

	mu     sync.Mutex
	failed []string
}

// newLoad begins to send POST requests, which net/http doesn't send twice, over connections to address, HOST:PORT or unix:/PATH.
func newLoad(address string) *load {
	l := &load{stop: make(chan struct{})}
	network, path, isUnix := strings.Cut(address, ":")
	if !isUnix || network != "unix" {
		network, path = "tcp", address
	}
	for i := range 6 {
		transport := &http.Transport{DisableKeepAlives: i%2 == 0, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, path)
		}}
		l.wg.Go(func() {
			defer transport.CloseIdleConnections()
			for {
				select {
				case <-l.stop:
					return
				default:
				}
				if err := post(transport); err != nil {
					l.mu.Lock()
					l.failed = append(l.failed, err.Error())
					l.mu.Unlock()
					continue
				}
				l.ok.Add(1)
			}
		})
	}
	return l
}

func post(transport *http.Transport) error {
	request, err := http.NewRequest(http.MethodPost, "http://gateway/v1", strings.NewReader("hello"))
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != 200 || string(body) != "hello") {
		err = fmt.Errorf("%d %q", answer.StatusCode, body)
	}
	return err
}

// end stops the load and reports what failed.
func (l *load) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.wg.Wait()
	if len(l.failed) > 0 {
		t.Errorf("%d requests failed, %d didn't: %q", len(l.failed), l.ok.Load(), l.failed[:min(5, len(l.failed))])
	}
	t.Logf("%d requests", l.ok.Load())
}

// newEcho is a backend that sends back what it gets.
func newEcho(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	t.Cleanup(server.Close)
	return server.URL
}

// upgrade sends SIGUSR2 to the process with that id, waits until it has ended for a new one, and returns that one's id.
func (p *process) upgrade(pid int) int {
	p.t.Helper()
	before := p.count("drained")
	signalTo(p.t, pid, syscall.SIGUSR2)
	p.await("the end of the old process", func(map[string]any) bool { return p.count("drained") > before })
	lines := p.lines()
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i]["msg"] == "a new process has taken over; draining" {
			next := int(lines[i]["pid"].(float64))
			process := processOf(p.t, next)
			p.t.Cleanup(func() { _ = process.Kill() }) // unless it has ended
			return next
		}
	}
	p.t.Fatalf("no new process: %v", lines)
	return 0
}

// processOf is the process with an id. It refuses what kill(2) takes for many processes.
func processOf(t *testing.T, pid int) *os.Process {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("%d is no process of this test", pid)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

func signalTo(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := processOf(t, pid).Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func (p *process) count(message string) (n int) {
	for _, line := range p.lines() {
		if line["msg"] == message {
			n++
		}
	}
	return n
}

// Process after process takes over while requests come in, and none fails.
func TestAnUpgradeLosesNoRequest(t *testing.T) {
	gateway := build(t)
	echo := newEcho(t)
	folder, err := os.MkdirTemp("", "g") // t.TempDir's names can be longer than a socket's may be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	file := filepath.Join(folder, "config.yaml")
	if err := os.WriteFile(file, []byte("upstreams: {v1: {url: \""+echo+"\", route: {auth: none}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		args []string
	}{
		{"with a file, over TCP", []string{"--config", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}},
		{"with flags, over a unix socket", []string{"--route", "/v1=" + echo, "--listen", "unix:" + folder + "/s", "--admin", "unix:" + folder + "/a"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := gateway.start(t, row.args...)
			l := newLoad(p.public)
			pid := p.cmd.Process.Pid
			for range 3 {
				pid = p.upgrade(pid)
			}
			l.end(t)
			signalTo(t, pid, syscall.SIGTERM)
			if code := p.exit(); code != 0 { // the first one's, once all have ended
				t.Errorf("exit code %d", code)
			}
			for _, socket := range []string{"/s", "/a"} {
				if _, err := os.Stat(folder + socket); err == nil {
					t.Errorf("the last one has left %s", socket)
				}
			}
		})
	}
}

// What takes over has to be able to serve.
func TestAnUpgradeThatFailsChangesNothing(t *testing.T) {
	gateway := build(t)
	echo := newEcho(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := "server: {drain: {timeout: 1s}}\nupstreams: {v1: {url: \"" + echo + "\", route: {auth: none}}}\n"
	write(good)
	p := gateway.start(t, "--config", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	l := newLoad(p.public)
	write("upstreams: {v1: {nonsense: 1}}\n")
	p.signal(syscall.SIGUSR2)
	line := p.await("the failure", func(line map[string]any) bool {
		return line["msg"] == "no new process has taken over; this one goes on"
	})
	if !strings.Contains(fmt.Sprint(line["error"]), "upstreams.v1.nonsense") {
		t.Errorf("the log says %v", line)
	}
	l.end(t)
	write(good)
	if err := os.Rename(gateway.path, gateway.path+".good"); err != nil { // what runs can't be written to
		t.Fatal(err)
	}
	if err := os.WriteFile(gateway.path, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGUSR2)
	p.await("the failure of a program that says nothing", func(line map[string]any) bool {
		return strings.Contains(fmt.Sprint(line["error"]), "exit status 3")
	})
	if err := os.Rename(gateway.path+".good", gateway.path); err != nil {
		t.Fatal(err)
	}
	pid := p.upgrade(p.cmd.Process.Pid)
	l = newLoad(p.public)
	for l.ok.Load() == 0 {
		p.metrics(t) // each round takes a request's time
	}
	l.end(t)
	signalTo(t, pid, syscall.SIGTERM)
	p.exit()
}

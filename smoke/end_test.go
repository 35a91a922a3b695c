package smoke

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTheFirstSignalDrains(t *testing.T) {
	service := newBackend(t)
	p := build(t).serve(t, service.address)
	held := p.hold(service)

	p.signal(syscall.SIGTERM)
	p.await("the drain", func(line map[string]any) bool { return line["msg"] == "draining" })
	if ready := send(t, p.admin, "GET /readyz HTTP/1.1", "Host: x", "Connection: close"); ready.StatusCode != 503 {
		t.Errorf("while it drains, /readyz is %d", ready.StatusCode)
	}
	p.refuses()
	service.release <- struct{}{}
	if answer := answerOf(t, held); answer.StatusCode != 200 || bodyOf(t, answer) != "ok\n" {
		t.Errorf("the request in flight got %d", answer.StatusCode)
	}
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.await("the last request", func(line map[string]any) bool { return line["path"] == "/public/held" && line["status"] == 200.0 })
	if _, err := net.Dial("tcp", p.public); err == nil {
		t.Error("something still listens")
	}
	if len(p.other) > 0 {
		t.Errorf("not log lines: %q", p.other)
	}
}

func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	service := newBackend(t)
	p := build(t).serve(t, service.address)
	p.hold(service)

	p.signal(syscall.SIGINT)
	p.await("the drain", func(line map[string]any) bool { return line["msg"] == "draining" })
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 1 {
		t.Errorf("exit code %d, want 1: what was in flight is lost", code)
	}
	close(service.release)
}

// refuses waits until a new connection is refused: one that waits in a queue that nobody accepts from would be lost.
func (p *process) refuses() {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; { // each round takes a connection's time
		conn, err := net.Dial("tcp", p.public)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			err = conn.Close()
		}
		if err != nil || time.Now().After(deadline) {
			p.t.Fatalf("a new connection isn't refused: %v", err)
		}
	}
}

// hold sends a request that the service answers when it is told to.
func (p *process) hold(service *backend) net.Conn {
	p.t.Helper()
	conn := dial(p.t, p.public)
	if _, err := io.WriteString(conn, "GET /public/held HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		p.t.Fatal(err)
	}
	<-service.heads
	return conn
}

func TestWhatIsWrongIsSaidAndNothingStarts(t *testing.T) {
	gateway := build(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	folder := t.TempDir()
	file := func(name, data string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, row := range []struct {
		name string
		exit int
		args []string
		says []string
	}{
		{"a port that is taken", 1, []string{"--route", "/v1=http://127.0.0.1:9", "--listen", taken.Addr().String(), "--admin", "127.0.0.1:0"},
			[]string{taken.Addr().String(), "in use"}},
		{"a file that isn't there", 1, []string{"--config", filepath.Join(folder, "none.yaml")}, []string{"none.yaml"}},
		{"an empty file", 1, []string{"--config", file("empty.yaml", "")}, []string{"empty.yaml"}},
		{"no YAML", 1, []string{"--config", file("broken.yaml", "server: {listen: [")}, []string{"broken.yaml:2:1: isn't YAML"}},
		{"several problems", 1, []string{"--config", file("bad.yaml", "server:\n  lisen: x\nupstreams:\n  a: {url: '://', unset: 1}\nroutes:\n  - {path: /x, upstream: ${GATEHOUSE_SMOKE_UNSET}}\n")},
			[]string{"bad.yaml:2:3: server.lisen", "bad.yaml:4:12: upstreams.a.url", "upstreams.a.unset", "bad.yaml:6", "GATEHOUSE_SMOKE_UNSET", "nothing was started"}},
		{"no config and no route", 1, nil, []string{"config.yaml", "gatehouse demo"}},
		{"a flag that there isn't", 2, []string{"--lisen", ":1"}, []string{"--lisen", "--help"}},
		{"a command that there isn't", 2, []string{"srve"}, []string{`"srve"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stdout, stderr := gateway.run(t, row.exit, row.args...)
			for _, says := range row.says {
				if !strings.Contains(stderr, says) {
					t.Errorf("it doesn't say %q:\n%s", says, stderr)
				}
			}
			if strings.Contains(stdout+stderr, `"serving"`) || strings.Contains(stderr, "goroutine ") {
				t.Errorf("it says\n%s%s", stdout, stderr)
			}
		})
	}
	if stdout, _ := gateway.run(t, 0, "version"); !strings.HasPrefix(stdout, "gatehouse smoke go") {
		t.Errorf("the version is %q", stdout)
	}
}

package smoke

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newFolder is one whose name is short enough for a socket's.
func newFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "g")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// A service manager hears from the old process who serves now, gets its sockets' files back, and its sockets go from process
// to process whatever the config says.
func TestAServiceManagerFollowsAnUpgrade(t *testing.T) {
	gateway, folder := build(t), newFolder(t)
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: folder + "/notify", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	heard := func() string {
		t.Helper()
		if err := manager.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		message := make([]byte, 100)
		n, err := manager.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: folder + "/s", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	public, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	defer public.Close()

	cmd := gateway.asManager("server.listen", []*os.File{public}, "--route", "/v1="+newEcho(t), "--listen", "127.0.0.1:1", "--admin", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+folder+"/notify")
	p := serving(t, cmd)
	if got := heard(); got != "READY=1" {
		t.Errorf("the manager heard %q", got)
	}
	l := newLoad("unix:" + folder + "/s")
	pid := p.cmd.Process.Pid
	for range 2 {
		pid = p.upgrade(pid)
		if got := heard(); got != fmt.Sprintf("MAINPID=%d", pid) {
			t.Errorf("the manager heard %q, and process %d serves", got, pid)
		}
	}
	l.end(t)
	signalTo(t, pid, syscall.SIGTERM)
	p.exit()
	if _, err := os.Stat(folder + "/s"); err != nil {
		t.Errorf("the manager's socket is gone: %v", err)
	}
}

// While a process drains, the one after it isn't replaced yet.
func TestAnUpgradeWaitsForTheOneBefore(t *testing.T) {
	gateway := build(t)
	entered, release := make(chan struct{}), make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/slow" {
			close(entered)
			<-release
		}
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(backend.Close)
	p := gateway.start(t, "--route", "/v1="+backend.URL, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	slow := dial(t, p.public)
	if _, err := io.WriteString(slow, "POST /v1/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"); err != nil {
		t.Fatal(err)
	}
	<-entered
	p.signal(syscall.SIGUSR2)
	line := p.await("the new process", func(line map[string]any) bool { return line["msg"] == "a new process has taken over; draining" })
	second := int(line["pid"].(float64))
	signalTo(t, second, syscall.SIGUSR2)
	p.await("the request that waits", func(line map[string]any) bool {
		return line["msg"] == "a new process takes over once the one before this has ended"
	})
	if n := p.count("starting a new process to take over"); n != 1 {
		t.Errorf("%d processes were started, want 1: the old one still drains", n)
	}
	close(release)
	if answer := answerOf(t, slow); answer.StatusCode != 200 || bodyOf(t, answer) != "hi" {
		t.Errorf("what the first process had begun got %d", answer.StatusCode)
	}
	p.await("the end of the second process", func(map[string]any) bool { return p.count("drained") == 2 })
	lines := p.lines()
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i]["msg"] == "a new process has taken over; draining" {
			signalTo(t, int(lines[i]["pid"].(float64)), syscall.SIGTERM)
			break
		}
	}
	p.exit()
}

// Who is told to stop stops, and so does the new process that it has started.
func TestAStopEndsAnUpgrade(t *testing.T) {
	gateway := build(t)
	stuck := make(chan struct{})
	issuer := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck })) // a new process waits for its keys
	t.Cleanup(issuer.Close)
	t.Cleanup(func() { close(stuck) })
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("auth: {providers: {identity: {issuer: %q, discovery: true, algorithms: [ES256]}}}\nupstreams: {v1: {url: %q, route: {auth: none}}}\n", issuer.URL, newEcho(t))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := gateway.start(t, "--config", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	p.signal(syscall.SIGUSR2)
	p.await("the new process", func(map[string]any) bool { return p.count("serving") == 2 })
	p.signal(syscall.SIGTERM)
	line := p.await("the end of the upgrade", func(line map[string]any) bool {
		return line["msg"] == "no new process has taken over; this one goes on"
	})
	if !strings.Contains(fmt.Sprint(line["error"]), "terminating") {
		t.Errorf("the log says %v", line)
	}
	if code := p.exit(); code != 0 { // once both have ended
		t.Errorf("exit code %d", code)
	}
}

package smoke

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "gatehouse/command" // go test must not take an old result for one of a gateway that has changed since
)

// patience is how long anything may take before a test fails; nothing here waits for it otherwise.
const patience = 10 * time.Second

// binary is the built gateway's path, a key to sign tokens with, and the issuer that publishes it.
type binary struct{ path, key, issuer string }

// build builds the gateway once for a test.
func build(t *testing.T) binary {
	t.Helper()
	for _, file := range []string{"../main.go", "../config.yaml"} { // likewise: what a test reads, go test looks at
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	b := binary{path: filepath.Join(folder, "gatehouse"), key: filepath.Join(folder, "identity.pem")}
	compile := exec.Command("go", "build", "-ldflags", "-X main.version=smoke", "-o", b.path, "..")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	keys, _ := b.run(t, 0, "keys", "new", "--alg", "ES256", "--out", b.key)
	b.issuer = publish(t, keys)
	return b
}

// publish serves a key set, and the discovery document that leads to it.
func publish(t *testing.T, keys string) (issuer string) {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": server.URL, "jwks_uri": server.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, keys) })
	return server.URL
}

// run runs a command to its end and returns what it wrote to each output.
func (b binary) run(t *testing.T, exit int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.Command(b.path, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &problems, t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	_ = cmd.Wait() // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != exit {
		t.Errorf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), code, exit, problems.String())
	}
	return out.String(), problems.String()
}

// token mints a token for the shipped config.
func (b binary) token(t *testing.T, scope string, flags ...string) string {
	t.Helper()
	args := append([]string{"token", "--key", b.key, "--issuer", b.issuer, "--audience", "gateway",
		"--sub", "ada", "--claim", "email=ada@example.com", "--scope", scope}, flags...)
	out, _ := b.run(t, 0, args...)
	return strings.TrimSpace(out)
}

// process is a gateway that serves, and those that have taken over from it.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	public string
	admin  string

	mu     sync.Mutex
	log    []map[string]any // its lines
	other  []string         // what isn't one
	ended  chan struct{}    // both outputs are read to their end
	logged chan struct{}    // gets one for each line
}

// serve starts a gateway with the shipped config in front of a backend, and waits until it listens.
func (b binary) serve(t *testing.T, backend string) *process {
	t.Helper()
	return b.startWith(t, []string{"ORDER_URL=http://" + backend, "USER_URL=http://" + backend, "IDENTITY_ISSUER=" + b.issuer},
		"--config", "../config.yaml", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
}

// start starts a gateway and waits until it listens.
func (b binary) start(t *testing.T, args ...string) *process {
	t.Helper()
	return b.startWith(t, nil, args...)
}

func (b binary) startWith(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(b.path, append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return serving(t, cmd)
}

// serving starts a gateway and waits until it listens.
func serving(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, ended: make(chan struct{}), logged: make(chan struct{}, 10_000)}
	read, write := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = write, write
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(read)
	exited := make(chan struct{})
	go func() { _ = p.cmd.Wait(); _ = write.Close(); close(exited) }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-exited
		<-p.ended
	})
	line := p.await("serving", func(line map[string]any) bool { return line["msg"] == "serving" })
	p.public, p.admin = line["listen"].(string), line["admin"].(string)
	return p
}

func (p *process) read(from io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line map[string]any
		err := json.Unmarshal(lines.Bytes(), &line)
		p.mu.Lock()
		if err != nil {
			p.other = append(p.other, lines.Text())
		} else {
			p.log = append(p.log, line)
		}
		p.mu.Unlock()
		select {
		case p.logged <- struct{}{}:
		default: // whoever waits has enough to look at
		}
	}
}

// await waits for a log line.
func (p *process) await(what string, is func(map[string]any) bool) map[string]any {
	p.t.Helper()
	over := time.After(patience)
	for {
		for _, line := range p.lines() {
			if is(line) {
				return line
			}
		}
		select {
		case <-p.logged:
		case <-over:
			p.t.Fatalf("there is no log line for %s:\n%v\n%q", what, p.lines(), p.other)
		case <-p.ended:
			p.t.Fatalf("the gateway ended without a log line for %s:\n%v\n%q", what, p.lines(), p.other)
		}
	}
}

func (p *process) lines() []map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]map[string]any{}, p.log...)
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the process to end by itself and returns its exit code.
func (p *process) exit() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatal("the gateway didn't end")
		return -1
	}
}

// dial opens a raw connection.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

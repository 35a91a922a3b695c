package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// console is an output that a test can wait on.
type console struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newConsole() *console { return &console{changed: make(chan struct{})} }

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
	return c.text.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// waitFor returns the output once it has text in it.
func (c *console) waitFor(t *testing.T, text string) string {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		c.mu.Lock()
		now, changed := c.text.String(), c.changed
		c.mu.Unlock()
		if strings.Contains(now, text) {
			return now
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%q never came; the output is:\n%s", text, now)
		}
	}
}

// running is a command that is still at work.
type running struct {
	stdout, stderr *console
	signals        chan os.Signal
	code           chan int
}

// start runs a command line in the background. The test's end interrupts it, twice.
func start(t *testing.T, env map[string]string, args ...string) *running {
	t.Helper()
	return startProcess(t, Process{Args: args, LookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok }})
}

// startProcess is start for what needs more of a Process, which may have outputs of its own.
func startProcess(t *testing.T, p Process) *running {
	t.Helper()
	r := &running{newConsole(), newConsole(), make(chan os.Signal, 2), make(chan int, 1)}
	p.Signals, p.Version = r.signals, "v1.2.3"
	if p.Stdout == nil {
		p.Stdout = r.stdout
	}
	if p.Stderr == nil {
		p.Stderr = r.stderr
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.code <- Main(p)
	}()
	t.Cleanup(func() {
		for range 2 {
			select {
			case r.signals <- syscall.SIGTERM:
			default: // nobody takes it any more
			}
		}
		<-ended
	})
	return r
}

// end waits for the exit code.
func (r *running) end(t *testing.T) int {
	t.Helper()
	select {
	case code := <-r.code:
		return code
	case <-time.After(20 * time.Second):
		t.Fatalf("it didn't end; the output is:\n%s%s", r.stdout, r.stderr)
		return 0
	}
}

func (r *running) interrupt() { r.signals <- syscall.SIGTERM }

// call runs a command line to its end.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	r := start(t, nil, args...)
	code = r.end(t)
	return code, r.stdout.String(), r.stderr.String()
}

// file writes a file into a folder of the test's own.
func file(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCalls(t *testing.T) {
	nothing := t.TempDir()
	tests := []struct {
		name           string
		args           string
		code           int
		stdout, stderr string // what they contain
	}{
		{"help lists the commands", "--help", 0, "\n  demo ", ""},
		{"help lists what answers questions", "--help", 0, "\n  explain ", ""},
		{"help lists what tests", "--help", 0, "\n  test ", ""},
		{"help has examples", "token --help", 0, "gatehouse token --key id.pem", ""},
		{"the version", "version", 0, "gatehouse v1.2.3 go1.", ""},
		{"the version as a flag", "--version", 0, "gatehouse v1.2.3 go1.", ""},
		{"completion for a shell", "completion bash", 0, "__start_gatehouse", ""},
		{"completion for a shell that it doesn't know", "completion foo", 2, "", `there is no command "foo"; there are bash, fish, powershell, zsh`},
		{"completion without saying for which shell", "completion", 2, "", "bash, fish, powershell, zsh"},
		{"completion for a shell and more", "completion bash foo", 2, "", "bash takes no argument and got 1"},
		{"help about a command", "help keys new", 0, "gatehouse keys new --alg", ""},
		{"help about a command that isn't there", "help nope", 2, "", `there is no command "nope"; there are completion, demo, diff,`},
		{"help about a command that is nearly there", "help keys nwe", 2, "", "did you mean new?"},
		{"help about a command of one that has none", "help validate x", 2, "", `there is no command "x"`},
		{"an unknown command that is like no other", "frobnicate", 2, "", "; there are completion, demo, diff,"},
		{"an unknown command", "validat", 2, "", "did you mean validate?"},
		{"an unknown flag", "serve --fast", 2, "", "unknown flag: --fast"},
		{"a flag that has no value", "serve --config", 2, "", "flag needs an argument"},
		{"a flag with a value of another type", "token --ttl soon", 2, "", "it is a duration such as 90s, 5m or 1h"},
		{"a switch that is neither", "validate --strict=maybe", 2, "", `"--strict" flag: it is true or false`},
		{"a flag with a number that is none", "demo --ports-from x", 2, "", "it is a whole number such as 18080"},
		{"an unknown command with two letters swapped", "sreve", 2, "", "did you mean serve?"},
		{"an unknown command of keys with two letters swapped", "keys nwe", 2, "", "did you mean new?"},
		{"a file in the place of a command", "config.yaml", 2, "", "gatehouse serve config.yaml"},
		{"an address without a colon", "--listen 8080", 2, "", `--listen "8080": it is an address such as :8080`},
		{"an address with a port by name", "demo --admin localhost:http", 2, "", `--admin "localhost:http"`},
		{"too few arguments", "diff a", 2, "", "diff takes 2 arguments and got 1: gatehouse diff OLD NEW"},
		{"none of any number of arguments", "keys jwks", 2, "", "takes at least 1 argument and got 0"},
		{"a file as an argument and as a flag", "routes a.yaml --config b.yaml", 2, "", "two configs are named, a.yaml and --config b.yaml"},
		{"a file to serve, as an argument", "serve missing.yaml", 1, "", "missing.yaml: can't be read"},
		{"a file to list the routes of, as an argument", "routes missing.yaml", 1, "", "missing.yaml: can't be read"},
		{"a file to take a provider from, as an argument", "token missing.yaml", 1, "", "missing.yaml: can't be read"},
		{"a file to validate, as a flag", "validate --config missing.yaml", 1, "", "missing.yaml: can't be read"},
		{"too many arguments", "validate a b", 2, "", "validate takes at most 1 argument and got 2"},
		{"an argument where there is none", "version now", 2, "", "Try: gatehouse version --help"},
		{"keys without saying which", "keys", 2, "", "new, jwks or api"},
		{"an unknown command of keys", "keys old", 2, "", `there is no command "old"`},
		{"a file and routes", "--config x --route /=http://h", 2, "", "exclude each other"},
		{"a route that is none", "--route v1", 2, "", "it is PATH=URL"},
		{"two routes for one path", "--listen 127.0.0.1:0 --admin 127.0.0.1:0 --route /a=http://h --route /a=http://i", 1, "", "a-2"},
		{"a route with a URL that is none", "--route /a=::", 1, "", "upstreams.a.url"},
		{"nothing to serve", "", 1, "", "gatehouse demo"},
		{"nothing to serve, with the places looked at", "serve", 1, "", "neither config.yaml nor /etc/gatehouse/config.yaml is there"},
		{"a config that isn't there", "--config missing.yaml", 1, "", "missing.yaml"},
		{"no config to validate", "validate", 1, "", "neither config.yaml nor"},
		{"no config to list routes of", "routes", 1, "", "neither config.yaml nor"},
		{"too high a port", "demo --ports-from 65533", 2, "", "first of 6 ports"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(nothing) // or the file of this folder is found
			code, stdout, stderr := call(t, strings.Fields(test.args)...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("got %d\nstdout: %s\nstderr: %s\nwant %d, %q and %q", code, stdout, stderr, test.code, test.stdout, test.stderr)
			}
			if code != 0 && stdout != "" {
				t.Errorf("a failure wrote to stdout: %q", stdout)
			}
			if code == 0 && stderr != "" {
				t.Errorf("a success wrote to stderr: %q", stderr)
			}
		})
	}
}

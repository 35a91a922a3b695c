package limits

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	toldShared  = "limits are shared through Redis"
	toldLocally = "limits are kept locally, because Redis can't be used"
)

// gateway is one of a fleet's, a process.
type gateway struct {
	addr, admin string
	clock       string // the time in its log when it began to serve

	mu   sync.Mutex
	told map[string]int // what it has logged, by message
}

func (g *gateway) count(msg string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.told[msg]
}

// serve runs a gateway until the test ends, and returns when it listens.
func serve(t *testing.T, cmd *exec.Cmd) *gateway {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g := &gateway{told: map[string]int{}}
	listens, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); g.read(out, listens) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	select {
	case <-listens:
	case <-ended:
		t.Fatal("the gateway has ended")
	case <-time.After(patience):
		t.Fatal("the gateway doesn't listen")
	}
	return g
}

func (g *gateway) read(from io.Reader, listens chan<- struct{}) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		var line struct{ TS, Msg, Listen, Admin string }
		_ = json.Unmarshal(lines.Bytes(), &line)
		g.mu.Lock()
		g.told[line.Msg]++
		g.mu.Unlock()
		if line.Msg == "serving" {
			g.addr, g.admin, g.clock = line.Listen, line.Admin, line.TS
			close(listens)
		}
	}
}

// modes are those of gateway_limiter_mode that are 1, which is one of them.
func (g *gateway) modes(t *testing.T) string {
	t.Helper()
	answer, err := http.Get("http://" + g.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var modes []string
	for _, match := range regexp.MustCompile(`gateway_limiter_mode\{mode="(\w+)"\} 1\n`).FindAllSubmatch(text, -1) {
		modes = append(modes, string(match[1]))
	}
	return strings.Join(modes, " ")
}

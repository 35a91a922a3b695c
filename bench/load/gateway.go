package load

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Gateway is a gatehouse that runs with GOMAXPROCS=1, pinned to one CPU where
// taskset is there.
type Gateway struct {
	Address string
	process *exec.Cmd
}

// Build builds gatehouse from the tree that the working directory is the root of,
// and returns where it is.
func Build(folder string) (string, error) {
	binary := filepath.Join(folder, "gatehouse")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building gatehouse: %w\n%s", err, out)
	}
	return binary, nil
}

// Start starts a gateway with a config, which it writes to folder, and waits for
// its listener.
func Start(binary, folder, config string) (*Gateway, error) {
	file := filepath.Join(folder, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gateway{Address: l.Addr().String()}
	if err := l.Close(); err != nil {
		return nil, err
	}
	command := []string{binary, "serve", "--config", file, "--listen", g.Address}
	if pin, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{pin, "-c", "0"}, command...)
	}
	g.process = exec.Command(command[0], command[1:]...)
	g.process.Env = append(os.Environ(), "GOMAXPROCS=1")
	g.process.Stderr = os.Stderr
	if err := g.process.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", g.Address); err == nil {
			return g, conn.Close()
		}
	}
	g.Stop()
	return nil, fmt.Errorf("nothing listens on %s after 20 s", g.Address)
}

// Stop drains the gateway and waits for its end.
func (g *Gateway) Stop() {
	_ = g.process.Process.Signal(os.Interrupt)
	_ = g.process.Wait() // it was told to end
}

// CPUTime is what the gateway has used so far.
func (g *Gateway) CPUTime() (time.Duration, error) { return CPUTime(g.process.Process.Pid) }

// PeakMemory is the most resident memory the gateway has had, in bytes.
func (g *Gateway) PeakMemory() (int64, error) { return PeakMemory(g.process.Process.Pid) }

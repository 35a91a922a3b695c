package load

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Gateway is a gatehouse process.
type Gateway struct {
	Address string
	admin   string
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
// its listener. It runs with GOMAXPROCS=cpus, pinned to so many CPUs where taskset is
// there.
func Start(binary, folder, config string, cpus int) (*Gateway, error) {
	file := filepath.Join(folder, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	g := &Gateway{}
	for _, address := range []*string{&g.Address, &g.admin} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*address = l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	command := []string{binary, "serve", "--config", file, "--listen", g.Address, "--admin", g.admin}
	if pin, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{pin, "-c", fmt.Sprintf("0-%d", cpus-1)}, command...)
	}
	g.process = exec.Command(command[0], command[1:]...)
	g.process.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cpus))
	g.process.Stderr = os.Stderr
	if err := g.process.Start(); err != nil {
		return nil, err
	}
	for _, address := range []string{g.Address, g.admin} {
		if err := listening(address); err != nil {
			g.Stop()
			return nil, err
		}
	}
	return g, nil
}

// listening waits for a listener.
func listening(address string) error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("nothing listens on %s after 20 s", address)
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

// Memory is the resident memory that the gateway has now, in bytes.
func (g *Gateway) Memory() (int64, error) { return memory(g.process.Process.Pid, "VmRSS:") }

// Descriptors is how many files and sockets the gateway has open.
func (g *Gateway) Descriptors() (int, error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.process.Process.Pid))
	return len(open), err
}

// Goroutines is how many the gateway has.
func (g *Gateway) Goroutines() (int, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + g.admin + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close() //nolint:errcheck // it is read
	var n int
	_, err = fmt.Fscanf(res.Body, "goroutine profile: total %d", &n)
	return n, err
}

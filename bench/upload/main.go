// Command upload sends one large body through gatehouse and says how much memory
// the gateway took for it, which doesn't depend on the size.
//
//	go run ./bench/upload            (5 GB, about half a minute)
//	go run ./bench/upload -gb 1
//
// The gateway is a process of its own with GOMEMLIMIT=64MiB. Linux only.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gatehouse/bench/load"
)

func main() {
	gigabytes := flag.Int64("gb", 5, "how much is sent")
	flag.Parse()
	if err := run(*gigabytes << 30); err != nil {
		log.Fatal(err)
	}
}

func run(size int64) (err error) {
	folder, err := os.MkdirTemp("", "gatehouse-upload-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary, config := filepath.Join(folder, "gatehouse"), filepath.Join(folder, "config.yaml")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("building gatehouse: %w\n%s", err, out)
	}
	backend, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	received := make(chan int64, 1)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body) // a body that breaks off is too short
		received <- n
	})}
	go server.Serve(backend) //nolint:errcheck // it ends with the process
	text := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0", max_body_size: 0}
upstreams: {app: {url: "http://%s", timeouts: {request: 0s, response_header: 0s}, route: {path: /, auth: none}}}
`, backend.Addr())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	gateway := exec.CommandContext(ctx, binary, "--config", config)
	gateway.Env = append(os.Environ(), "GOMEMLIMIT=64MiB")
	output, err := gateway.StdoutPipe()
	if err != nil {
		return err
	}
	if err := gateway.Start(); err != nil {
		return err
	}
	defer gateway.Wait() //nolint:errcheck // it is told to end
	defer stop()
	address, err := listening(output)
	if err != nil {
		return err
	}

	began := time.Now()
	request, err := http.NewRequest(http.MethodPut, "http://"+address, io.LimitReader(zeros{}, size))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	took := time.Since(began)
	peak, err := load.PeakMemory(gateway.Process.Pid)
	if err != nil {
		return err
	}
	if n := <-received; response.StatusCode != http.StatusOK || n != size {
		return fmt.Errorf("the answer is %s, and the backend got %d bytes of %d", response.Status, n, size)
	}
	fmt.Printf("%d GB in %s, %d MB/s; the gateway's peak of resident memory: %d MiB\n",
		size>>30, took.Round(time.Second), int64(float64(size)/took.Seconds())/1e6, peak>>20)
	return nil
}

// listening is the public listener's address, from the log line "serving".
func listening(output io.Reader) (string, error) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), `"msg":"serving","listen":"`); ok {
			address, _, _ := strings.Cut(rest, `"`)
			go io.Copy(io.Discard, output) //nolint:errcheck // the gateway mustn't wait for its log
			return address, nil
		}
	}
	return "", fmt.Errorf("the gateway didn't start: %w", lines.Err())
}

// zeros is a body without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

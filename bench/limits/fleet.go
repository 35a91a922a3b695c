package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// fleet is the gateways of one run.
type fleet struct{ gateways []*gateway }

type gateway struct {
	cmd           *exec.Cmd
	public, admin string
}

func build(binary string) error {
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("building gatehouse: %w\n%s", err, out)
	}
	return nil
}

// start runs the gateways with a quota per X-Tenant, and returns when all of them serve and know where limits are kept.
func (b bench) start(m mode, rate, burst int) (*fleet, error) {
	text := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
log: {access: {enabled: false}}
%s
upstreams: {app: {url: "%s", breaker: {failures: 0}}}
routes: [{path: /, upstream: app, auth: none, quota: {rate: %d/s, burst: %d, per: "header:X-Tenant"}}]
`, strings.Replace(m.redis, "ADDRESS", b.redis, 1), b.backend, rate, burst)
	file := filepath.Join(b.folder, "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	f := &fleet{}
	for range gateways {
		g, err := serve(b.binary, file, m.redis != "")
		if err != nil {
			f.stop()
			return nil, err
		}
		f.gateways = append(f.gateways, g)
	}
	return f, nil
}

func serve(binary, file string, shared bool) (*gateway, error) {
	g := &gateway{cmd: exec.Command(binary, "serve", "--config", file)}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	g.cmd.Stderr = os.Stderr
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var line struct{ Msg, Listen, Admin string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			continue
		}
		if line.Msg == "serving" {
			g.public, g.admin = line.Listen, line.Admin
		}
		shared = shared && line.Msg != "limits are shared through Redis"
		if g.public != "" && !shared {
			go io.Copy(io.Discard, out) //nolint:errcheck // so that the gateway can log on; it ends with the gateway
			return g, nil
		}
	}
	g.stop()
	return nil, errors.New("the gateway ended before it served")
}

func (g *gateway) stop() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
}

func (f *fleet) stop() {
	for _, g := range f.gateways {
		g.stop()
	}
}

// redisCalls is how often the gateways have called Redis.
func (f *fleet) redisCalls() (total float64, err error) {
	for _, g := range f.gateways {
		n, err := g.metric("gateway_redis_duration_seconds_count")
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func (g *gateway) metric(name string) (float64, error) {
	answer, err := http.Get("http://" + g.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no %s", name)
}

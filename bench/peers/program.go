package main

import (
	"embed"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"
)

//go:embed config
var configs embed.FS

// program is one of the proxies.
type program struct {
	name  string
	plain string // its config for plain proxying
	full  string // and for the full chain; "": it can't do that
	lane  string // for gatehouse
	start func(file string) []string
}

func programs(gatehouse string) []program {
	haproxy := func(file string) []string { return []string{"haproxy", "-db", "-f", file} }
	nginx := func(file string) []string { return []string{"nginx", "-c", file} }
	own := func(file string) []string { return []string{gatehouse, "serve", "--config", file} }
	return []program{
		{name: "HAProxy", plain: "haproxy-plain.cfg", full: "haproxy-full.cfg", start: haproxy},
		{name: "nginx", plain: "nginx-plain.conf", start: nginx},
		{name: "gatehouse", plain: "gatehouse-plain.yaml", full: "gatehouse-full.yaml", lane: "auto", start: own},
		{name: "gatehouse, lane: standard", plain: "gatehouse-plain.yaml", full: "gatehouse-full.yaml", lane: "standard", start: own},
	}
}

// values fill in the configs.
type values struct {
	Listen, Metrics, Upstream int
	Folder, Body              string
	Algorithm, Key, KeySource string
	Lane                      string
}

// process is a program that runs, pinned to a CPU.
type process struct{ *exec.Cmd }

// launch starts a program and waits for its listener.
func launch(cpu, template, file string, v values, command []string) (*process, error) {
	if err := fill(template, file, v); err != nil {
		return nil, err
	}
	out, err := os.Create(file + ".out") // HAProxy's access log goes there
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the process has its own
	p := &process{exec.Command("taskset", append([]string{"-c", cpu}, command...)...)}
	p.Env = append(os.Environ(), "GOMAXPROCS=1")
	p.Stdout, p.Stderr = out, out
	if err := p.Start(); err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", v.Listen)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			return p, conn.Close()
		}
	}
	p.stop()
	said, _ := os.ReadFile(file + ".out") // it only helps
	return nil, fmt.Errorf("%s doesn't listen on %s after 10 s: %s", command[0], address, said)
}

func (p *process) stop() {
	_ = p.Process.Signal(os.Interrupt)
	_ = p.Wait() // it was told to end
}

func fill(name, file string, v values) error {
	t, err := template.ParseFS(configs, "config/"+name)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := t.ExecuteTemplate(f, filepath.Base(name), v); err != nil {
		return err
	}
	return f.Close()
}

// check makes sure that a program does the work: what a good and a bad token get.
func check(listen int, w work) error {
	bad := w.token
	if bad != "" {
		bad = bad[:len(bad)-8] + "AAAAAAAA"
	}
	for _, row := range []struct {
		token string
		want  int
	}{{w.token, http.StatusOK}, {bad, http.StatusUnauthorized}} {
		r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/order/1", listen), nil)
		if err != nil {
			return err
		}
		if row.token != "" {
			r.Header.Set("Authorization", "Bearer "+row.token)
		} else {
			row.want = http.StatusOK
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		if res.StatusCode != row.want {
			return fmt.Errorf("a request got %d instead of %d", res.StatusCode, row.want)
		}
	}
	return nil
}

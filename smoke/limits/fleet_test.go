package limits

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	_ "gatehouse/command" // go test must not take an old result for one of a gateway that has changed since
	"gatehouse/helper/limit/redis/redistest"
)

// patience is how long anything may take before a test fails.
const patience = 20 * time.Second

const (
	gateways = 3
	keys     = 8
	rate     = 60 // a second, of each key
	burst    = 30
	// timeout is redis.timeout where Redis goes away. It is longer than what a busy machine makes of a short wait.
	timeout = 500 * time.Millisecond
)

// folder has the built binary.
var folder string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "gatehouse-limits"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if !redistest.Installed() { // every test says so
		return m.Run()
	}
	if err := compile("gatehouse"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// compile builds the gateway into the folder.
func compile(name string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build", "-o", filepath.Join(folder, name)}, flags...), "../..")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the gateway: %w\n%s", err, out)
	}
	return nil
}

// fleet is several gateways in front of one backend.
type fleet struct {
	gateways []*gateway
	arrived  [keys]atomic.Int64 // at the backend, by key
}

// settings are what a fleet is started with.
type settings struct {
	redis  string   // the section redis, but for instances
	binary string   // "": the one that everybody gets
	env    []string // of each gateway, one variable; nil: none
}

// single is the section redis of a single node.
func single(s *redistest.Server, timeout time.Duration, more string) settings {
	return settings{redis: fmt.Sprintf(`addresses: ["%s"], timeout: %s%s`, s.Addr(), timeout, more)}
}

// start runs the gateways until the test ends.
func start(t *testing.T, s settings) *fleet {
	t.Helper()
	f := &fleet{}
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var key int
		_, _ = fmt.Sscanf(r.Header.Get("X-Tenant"), "tenant-%d", &key)
		f.arrived[key].Add(1)
	}))
	t.Cleanup(backend.Close)
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
log: {access: {enabled: false}}
redis: {%s, instances: %d}
upstreams: {app: {url: "%s", breaker: {failures: 0}}}
routes: [{path: /, upstream: app, auth: none, quota: {rate: %d/s, burst: %d, per: "header:X-Tenant"}}]
`, s.redis, gateways, backend.URL, rate, burst)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.binary == "" {
		s.binary = "gatehouse"
	}
	for i := range gateways {
		cmd := exec.Command(filepath.Join(folder, s.binary), "serve", "--config", config)
		if s.env != nil {
			cmd.Env = append(os.Environ(), s.env[i])
		}
		f.gateways = append(f.gateways, serve(t, cmd))
	}
	return f
}

// told waits until every gateway has told the message so many times, and says how long that took.
func (f *fleet) told(t *testing.T, msg string, times int) time.Duration {
	t.Helper()
	begin := time.Now()
	for i, g := range f.gateways {
		if err := redistest.Until(patience, func() error {
			if n := g.count(msg); n != times {
				return fmt.Errorf("gateway %d has told %q %d times, want %d", i, msg, n, times)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(begin)
}

// in waits until every gateway is in the mode, redis or local, as its metrics say.
func (f *fleet) in(t *testing.T, mode string) {
	t.Helper()
	for i, g := range f.gateways {
		if err := redistest.Until(patience, func() error {
			if now := g.modes(t); now != mode {
				return fmt.Errorf("gateway %d is in the modes %q, want %q", i, now, mode)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fleet) totals() (totals [keys]int64) {
	for key := range totals {
		totals[key] = f.arrived[key].Load()
	}
	return totals
}

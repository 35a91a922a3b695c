package limits

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	if out, err := exec.Command("go", "build", "-o", filepath.Join(folder, "gatehouse"), "../..").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// fleet is several gateways in front of one backend.
type fleet struct {
	addrs   []string
	logs    []*log
	arrived [keys]atomic.Int64 // at the backend, by key
}

// log is what a gateway has logged, by message.
type log struct {
	mu    sync.Mutex
	lines map[string]int
}

func (l *log) count(msg string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines[msg]
}

const (
	toldShared  = "limits are shared through Redis"
	toldLocally = "limits are kept locally, because Redis can't be used"
)

// start runs the gateways; more is added to the section redis.
func start(t *testing.T, redis string, timeout time.Duration, more string) *fleet {
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
redis: {addresses: ["%s"], timeout: %s, instances: %d%s}
upstreams: {app: {url: "%s", breaker: {failures: 0}}}
routes: [{path: /, upstream: app, auth: none, quota: {rate: %d/s, burst: %d, per: "header:X-Tenant"}}]
`, redis, timeout, gateways, more, backend.URL, rate, burst)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range gateways {
		addr, l := serve(t, config)
		f.addrs, f.logs = append(f.addrs, addr), append(f.logs, l)
	}
	return f
}

// serve runs one gateway until the test ends, and returns when it listens.
func serve(t *testing.T, config string) (addr string, l *log) {
	t.Helper()
	cmd := exec.Command(filepath.Join(folder, "gatehouse"), "serve", "--config", config)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l = &log{lines: map[string]int{}}
	listens, ended := make(chan string, 1), make(chan struct{})
	go func() { defer close(ended); l.read(out, listens) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	select {
	case addr = <-listens:
	case <-time.After(patience):
		t.Fatal("the gateway doesn't listen")
	}
	return addr, l
}

func (l *log) read(from io.Reader, listens chan<- string) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		var line struct{ Msg, Listen string }
		_ = json.Unmarshal(lines.Bytes(), &line)
		l.mu.Lock()
		l.lines[line.Msg]++
		l.mu.Unlock()
		if line.Msg == "serving" {
			listens <- line.Listen
		}
	}
}

// told waits until every gateway has told the message so many times, and says how long that took.
func (f *fleet) told(t *testing.T, msg string, times int) time.Duration {
	t.Helper()
	begin := time.Now()
	for i, l := range f.logs {
		if err := redistest.Until(patience, func() error {
			if n := l.count(msg); n != times {
				return fmt.Errorf("gateway %d has told %q %d times, want %d", i, msg, n, times)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(begin)
}

// run sends requests of all keys to all gateways for a while, as fast as they go, and returns what came of them.
func (f *fleet) run(t *testing.T, d time.Duration) *outcome {
	t.Helper()
	o := &outcome{begin: time.Now()}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: keys}, Timeout: patience}
	defer client.CloseIdleConnections()
	before := f.totals()
	var group sync.WaitGroup
	for _, addr := range f.addrs {
		for key := range keys {
			r, err := http.NewRequest(http.MethodGet, "http://"+addr, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Tenant", fmt.Sprintf("tenant-%d", key))
			group.Go(func() { o.repeat(client, r, d) })
		}
	}
	group.Wait()
	o.lasted = time.Since(o.begin)
	for key, total := range f.totals() {
		o.arrived[key] = total - before[key]
	}
	return o
}

func (f *fleet) totals() (totals [keys]int64) {
	for key := range totals {
		totals[key] = f.arrived[key].Load()
	}
	return totals
}

// outcome is what came of a run.
type outcome struct {
	begin   time.Time
	lasted  time.Duration
	arrived [keys]int64
	mu      sync.Mutex
	status  map[int]int
	errors  []string
	later   int           // requests after the first second
	slow    int           // of them, those that waited as for a store that hangs
	slowest time.Duration // of them
}

func (o *outcome) repeat(client *http.Client, r *http.Request, d time.Duration) {
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	for time.Since(o.begin) < d {
		sent := time.Now()
		answer, err := client.Do(r)
		o.note(sent, time.Since(sent), answer, err)
		<-pause.C
	}
}

func (o *outcome) note(sent time.Time, took time.Duration, answer *http.Response, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.errors = append(o.errors, err.Error())
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if o.status == nil {
		o.status = map[int]int{}
	}
	o.status[answer.StatusCode]++
	if sent.Sub(o.begin) > time.Second {
		o.later++
		o.slowest = max(o.slowest, took)
		if took > timeout/2 {
			o.slow++
		}
	}
}

// holds checks that no caller got an error, and that no key got more than most, nor less than least.
func (o *outcome) holds(t *testing.T, least, most int64) {
	t.Helper()
	t.Logf("in %s: %v, by key %v; the slowest took %s after the first second", o.lasted, o.status, o.arrived, o.slowest)
	for status, n := range o.status {
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Errorf("%d answers were %d", n, status)
		}
	}
	if len(o.errors) > 0 {
		t.Errorf("%d requests failed: %s", len(o.errors), strings.Join(o.errors[:min(3, len(o.errors))], "; "))
	}
	for key, n := range o.arrived {
		if n < least || n > most {
			t.Errorf("key %d got %d, want %d to %d", key, n, least, most)
		}
	}
}

// grown is what a key's bucket gives in a time, besides its burst.
func grown(d time.Duration) int64 { return int64(rate*d.Seconds()) + 1 }

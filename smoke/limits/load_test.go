package limits

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/helper/limit/redis/redistest"
)

// outcome is what came of a load.
type outcome struct {
	fleet   *fleet
	client  *http.Client
	group   sync.WaitGroup
	ended   atomic.Bool
	begin   time.Time
	before  [keys]int64 // what had arrived when it began
	lasted  time.Duration
	arrived [keys]int64

	mu      sync.Mutex
	status  map[int]int
	errors  []string
	answers []took
}

// took is how long a request took that was sent at a time.
type took struct {
	sent time.Time
	time time.Duration
}

// load sends requests of all keys to all gateways, each as soon as the one before is answered and the pause is over, and
// returns when each gateway has answered some.
func (f *fleet) load(t *testing.T, pause time.Duration) *outcome {
	t.Helper()
	o := &outcome{
		fleet: f, begin: time.Now(), before: f.totals(), status: map[int]int{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: keys}, Timeout: patience},
	}
	for _, g := range f.gateways {
		for key := range keys {
			r, err := http.NewRequest(http.MethodGet, "http://"+g.addr, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Tenant", fmt.Sprintf("tenant-%d", key))
			o.group.Go(func() { o.repeat(r, pause) })
		}
	}
	o.sent(t, gateways*keys)
	return o
}

// sent waits until so many more requests have been answered.
func (o *outcome) sent(t *testing.T, more int) {
	t.Helper()
	count := func() int {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.answers) + len(o.errors)
	}
	want := count() + more
	if err := redistest.Until(patience, func() error {
		if n := count(); n < want {
			return fmt.Errorf("%d requests are answered, want %d", n, want)
		}
		return nil
	}); err != nil {
		o.ended.Store(true)
		t.Fatal(err)
	}
}

// end lets the load go on until then, and ends it.
func (o *outcome) end(then time.Time) *outcome {
	<-time.After(time.Until(then))
	o.ended.Store(true)
	o.group.Wait()
	o.lasted = time.Since(o.begin)
	for key, total := range o.fleet.totals() {
		o.arrived[key] = total - o.before[key]
	}
	o.client.CloseIdleConnections()
	return o
}

// run is a load of a length, as fast as it goes.
func (f *fleet) run(t *testing.T, d time.Duration) *outcome {
	t.Helper()
	o := f.load(t, 2*time.Millisecond)
	return o.end(o.begin.Add(d))
}

func (o *outcome) repeat(r *http.Request, every time.Duration) {
	pause := time.NewTicker(every)
	defer pause.Stop()
	for !o.ended.Load() {
		sent := time.Now()
		answer, err := o.client.Do(r)
		o.note(took{sent, time.Since(sent)}, answer, err)
		<-pause.C
	}
}

func (o *outcome) note(took took, answer *http.Response, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.errors = append(o.errors, err.Error())
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	o.status[answer.StatusCode]++
	o.answers = append(o.answers, took)
}

// after are the times that requests took which were sent after a time, the shortest first.
func (o *outcome) after(begin time.Time) (times []time.Duration) {
	for _, answer := range o.answers {
		if answer.sent.After(begin) {
			times = append(times, answer.time)
		}
	}
	slices.Sort(times)
	return times
}

// holds checks that no caller got an error, and that no key got more than most, nor less than least.
func (o *outcome) holds(t *testing.T, least, most int64) {
	t.Helper()
	t.Logf("in %s: %v, by key %v", o.lasted, o.status, o.arrived)
	o.served(t)
	for key, n := range o.arrived {
		if n < least || n > most {
			t.Errorf("key %d got %d, want %d to %d", key, n, least, most)
		}
	}
}

// served checks that no caller got an error.
func (o *outcome) served(t *testing.T) {
	t.Helper()
	for status, n := range o.status {
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Errorf("%d answers were %d", n, status)
		}
	}
	if len(o.errors) > 0 {
		t.Errorf("%d requests failed: %s", len(o.errors), strings.Join(o.errors[:min(3, len(o.errors))], "; "))
	}
}

// grown is what a key's bucket gives in a time, besides its burst.
func grown(d time.Duration) int64 { return int64(rate*d.Seconds()) + 1 }

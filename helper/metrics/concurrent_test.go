package metrics_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestManyRequestsAndReloadsAtOnceLoseNoCount compares the counters with a plain map under a lock.
func TestManyRequestsAndReloadsAtOnceLoseNoCount(t *testing.T) {
	m := newMetrics()
	route := m.Route("order", "orders")
	var mu sync.Mutex
	want := map[string]int{}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for range 500 {
				method, status := []string{"GET", "POST", "BREW"}[random.IntN(3)], 200+random.IntN(3)
				m.InflightAdd(1)
				route.Observe(method, status, time.Duration(random.IntN(1e9)), 0, "4bf92f3577b34da6a3ce929d0e0e4736")
				m.InflightAdd(-1)
				mu.Lock()
				want[fmt.Sprintf(`code="%d",method="%s"`, status, strings.Replace(method, "BREW", "OTHER", 1))]++
				mu.Unlock()
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			remove(register(m, 1))
			_, _ = io.WriteString(io.Discard, series(t, m))
		}
	})
	wg.Wait()

	got := series(t, m)
	for labels, n := range want {
		if line := fmt.Sprintf("http_requests_total{%s,upstream=\"order\",uri=\"orders\"} %d\n", labels, n); !strings.Contains(got, line) {
			t.Errorf("no %s in:\n%s", line, got)
		}
	}
	for _, line := range []string{"gateway_inflight_requests 0\n", `http_request_duration_seconds_count{upstream="order",uri="orders"} 4000` + "\n"} { // M-09
		if !strings.Contains(got, line) {
			t.Errorf("no %s in:\n%s", line, got)
		}
	}
}

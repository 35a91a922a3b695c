package metrics_test

import (
	"testing"
	"time"

	"gatehouse/helper/metrics"
)

// bookkeeping gives a function that counts everything that a request which goes well makes.
func bookkeeping() func() {
	m := metrics.New(metrics.Options{NativeHistograms: true})
	m.Provider("identity")
	route := m.Route("order", "orders")
	backend := m.Backend("order", "http://order:8080", func() int64 { return 0 }, func() bool { return true })
	return func() {
		m.InflightAdd(1)
		route.Accept()
		m.Auth("identity", "ok", "hit")
		backend.Observe(3 * time.Millisecond)
		route.Observe("GET", 200, 3*time.Millisecond, 20*time.Microsecond, "4bf92f3577b34da6a3ce929d0e0e4736")
		m.InflightAdd(-1)
	}
}

func TestRequestAllocatesAtMostTwice(t *testing.T) {
	request := bookkeeping()
	request() // takes the exemplar, and makes the counter of GET 200
	if n := testing.AllocsPerRun(1000, request); n > 2 {
		t.Errorf("a request's bookkeeping allocates %v times", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	request := bookkeeping()
	b.ReportAllocs()
	for b.Loop() {
		request()
	}
}

func BenchmarkRequestParallel(b *testing.B) {
	request := bookkeeping()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			request()
		}
	})
}

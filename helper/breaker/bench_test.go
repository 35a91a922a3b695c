package breaker_test

import (
	"testing"
	"time"

	"gatehouse/helper/breaker"
)

func newClosed() *breaker.Breaker {
	return breaker.New(breaker.Options{Failures: 5, OpenFor: time.Hour, HalfOpenRequests: 1})
}

func request(b *breaker.Breaker, p *breaker.Permit) {
	if b.Acquire(p) {
		p.Success()
	}
	p.Neutral()
}

func TestARequestAllocatesNothing(t *testing.T) {
	b, p := newClosed(), new(breaker.Permit)
	if n := testing.AllocsPerRun(1000, func() { request(b, p) }); n != 0 {
		t.Errorf("a request through a closed breaker allocates %v times", n)
	}
	b.Force(breaker.ForcedOpen)
	if n := testing.AllocsPerRun(1000, func() { request(b, p) }); n != 0 {
		t.Errorf("a refused request allocates %v times", n)
	}
}

func BenchmarkClosed(b *testing.B) {
	breaker, p := newClosed(), new(breaker.Permit)
	b.ReportAllocs()
	for b.Loop() {
		request(breaker, p)
	}
}

func BenchmarkClosedParallel(b *testing.B) {
	shared := newClosed()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		p := new(breaker.Permit)
		for pb.Next() {
			request(shared, p)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	shared, p := newClosed(), new(breaker.Permit)
	for range 5 {
		shared.Acquire(p)
		p.Failure()
	}
	b.ReportAllocs()
	for b.Loop() {
		request(shared, p)
	}
}

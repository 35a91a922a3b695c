package retry_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/retry"
)

// model is a budget as one would write it down first: two lists of times.
type model struct {
	ratio             float64
	start             time.Time
	requests, retries []int // the second in which each was
}

func (m *model) second() int { return int(time.Since(m.start) / time.Second) }
func (m *model) request()    { m.requests = append(m.requests, m.second()) }

func (m *model) retry() bool {
	among := func(list []int, seconds int) (n int) {
		for _, s := range list {
			if s > m.second()-seconds {
				n++
			}
		}
		return n
	}
	if among(m.retries, 1) >= 3 && float64(among(m.retries, 10)+1) > m.ratio*float64(among(m.requests, 10)) {
		return false
	}
	m.retries = append(m.retries, m.second())
	return true
}

// pass lets time pass in the bubble.
func pass(d time.Duration) { <-time.After(d) }

func TestTheBudgetAgreesWithTheModel(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			ratio := float64(random.IntN(5)) / 5
			budget, m := retry.NewBudget(ratio), &model{ratio: ratio, start: time.Now()}
			granted, refused := 0, 0
			for i := range 300 {
				switch n := random.IntN(10); {
				case n < 5:
					for range random.IntN(10) {
						budget.Request()
						m.request()
					}
				case n < 9:
					got, want := budget.Retry(), m.retry()
					if got != want {
						t.Fatalf("seed %d step %d: allowed is %v, the model says %v", seed, i, got, want)
					}
					if got {
						granted++
					} else {
						refused++
					}
				default:
					pass(time.Duration(random.Int64N(int64(1 << random.IntN(4) * time.Second / 2))))
				}
			}
			if granted == 0 || ratio == 0 && refused == 0 {
				t.Errorf("seed %d: %d granted, %d refused: the test shows nothing", seed, granted, refused)
			}
		})
	}
}

func TestWhenEverythingFailsOneInFiveIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget, requests, retries := retry.NewBudget(0.2), 0, 0
		for range 60 * 500 { // 500 a second for a minute
			budget.Request()
			requests++
			if budget.Retry() {
				retries++
			}
			if 5*retries > requests+5*3 {
				t.Fatalf("%d retries of %d requests", retries, requests)
			}
			pass(2 * time.Millisecond)
		}
		if 5*retries > requests || 5*retries < requests*99/100 {
			t.Errorf("%d retries of %d requests, want a fifth", retries, requests)
		}
	})
}

func TestThreeRetriesASecondAreAlwaysAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := retry.NewBudget(0)
		for second := range 30 {
			budget.Request()
			for i := range 5 {
				if got, want := budget.Retry(), i < 3; got != want {
					t.Errorf("second %d, retry %d: allowed is %v", second, i, got)
				}
			}
			pass(time.Second)
		}
	})
}

func TestRequestsOfTenSecondsAgoAllowNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := retry.NewBudget(1)
		for range 100 {
			budget.Request()
		}
		pass(10*time.Second - 1)
		for i := range 50 {
			if !budget.Retry() {
				t.Fatalf("retry %d was refused within the window", i)
			}
		}
		pass(1)
		for i := range 5 {
			if got, want := budget.Retry(), i < 3; got != want {
				t.Errorf("retry %d past the window: allowed is %v", i, got)
			}
		}
	})
}

// Of a thousand at once, as many pass as there is room for.
func TestTheBudgetIsExactAmongMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget, allowed := retry.NewBudget(0.25), atomic.Int64{}
		var group sync.WaitGroup
		for range 1000 {
			group.Go(budget.Request)
		}
		group.Wait()
		for range 1000 {
			group.Go(func() {
				if budget.Retry() {
					allowed.Add(1)
				}
			})
		}
		group.Wait()
		if got := allowed.Load(); got != 250 {
			t.Errorf("%d of 1000 were allowed, want 250", got)
		}
	})
}

func TestARequestCostsNoAllocation(t *testing.T) {
	budget := retry.NewBudget(0.2)
	if n := testing.AllocsPerRun(100, func() { budget.Request(); budget.Retry() }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	budget := retry.NewBudget(0.2)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			budget.Request()
		}
	})
}

func BenchmarkRetry(b *testing.B) {
	budget := retry.NewBudget(0.2)
	b.ReportAllocs()
	for b.Loop() {
		budget.Retry()
	}
}

func TestAvailableIsWhatRetryWouldSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := retry.NewBudget(0.5)
		for i := range 200 {
			if i%3 == 0 {
				b.Request()
			}
			available := b.Available()
			if again := b.Available(); again != available {
				t.Fatalf("step %d: asking has changed something", i)
			}
			if got := b.Retry(); got != available {
				t.Fatalf("step %d: Available says %v, Retry %v", i, available, got)
			}
			if i%20 == 0 {
				time.Sleep(400 * time.Millisecond) // of the bubble's clock
			}
		}
	})
}

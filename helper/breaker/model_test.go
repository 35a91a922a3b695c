package breaker_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/breaker"
)

// model is a breaker as one would write it down first: a mutex, plain fields and
// a number for each stay in a state.
type model struct {
	mu                          sync.Mutex
	options                     breaker.Options
	state                       breaker.State
	forced                      bool
	stay                        int
	failures, trials, successes int
	opened                      time.Time
	transitions                 []string
}

type modelPermit struct{ stay int }

func (m *model) enter(state breaker.State, forced bool) {
	if state != m.state {
		m.transitions = append(m.transitions, fmt.Sprint(m.state, ">", state))
	}
	m.state, m.forced, m.opened = state, forced, time.Now()
	m.stay++
	m.failures, m.trials, m.successes = 0, 0, 0
}

func (m *model) left() time.Duration {
	switch {
	case m.state != breaker.Open:
		return 0
	case m.forced:
		return m.options.OpenFor
	default:
		return max(0, m.options.OpenFor-time.Since(m.opened))
	}
}

func (m *model) over() bool { return m.state == breaker.Open && !m.forced && m.left() == 0 }

func (m *model) acquire() (modelPermit, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over() {
		m.enter(breaker.HalfOpen, false)
	}
	switch m.state {
	case breaker.Open:
		return modelPermit{}, false
	case breaker.HalfOpen:
		if m.trials == m.options.HalfOpenRequests {
			return modelPermit{}, false
		}
		m.trials++
	}
	return modelPermit{m.stay}, true
}

func (m *model) report(p modelPermit, result string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.stay != m.stay || m.forced {
		return
	}
	half := m.state == breaker.HalfOpen
	switch {
	case result == "success" && half:
		if m.successes++; m.successes == m.options.HalfOpenRequests {
			m.enter(breaker.Closed, false)
		}
	case result == "success":
		m.failures = 0
	case result == "failure":
		if m.failures++; half || m.failures == m.options.Failures {
			m.enter(breaker.Open, false)
		}
	case half:
		m.trials--
	}
}

func (m *model) force(o breaker.Override) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case o == breaker.ForcedOpen:
		m.enter(breaker.Open, true)
	case o == breaker.ForcedClosed || m.forced:
		m.enter(breaker.Closed, o != breaker.Auto)
	}
}

func (m *model) seen() breaker.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over() {
		return breaker.HalfOpen
	}
	return m.state
}

// Random operations, late and repeated reports among them: breaker and model
// agree on every answer, state, remaining time and transition.
func TestTheBreakerAgreesWithTheModel(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { agree(t, seed) })
	}
}

func agree(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	var heard []string
	options := breaker.Options{
		Failures: random.IntN(4), OpenFor: time.Duration(random.IntN(4)) * time.Second, HalfOpenRequests: 1 + random.IntN(3),
		OnTransition: func(from, to breaker.State) { heard = append(heard, fmt.Sprint(from, ">", to)) },
	}
	m := &model{options: options}
	b := breaker.New(options)
	type pair struct {
		real  *breaker.Permit
		model modelPermit
		spent bool
	}
	var pairs []*pair
	for i := range 400 {
		var step string
		switch n := random.IntN(100); {
		case n < 45:
			p := &pair{real: new(breaker.Permit)}
			modelPermit, want := m.acquire()
			got := b.Acquire(p.real)
			if got != want {
				t.Fatalf("seed %d step %d: admitted is %v, the model says %v", seed, i, got, want)
			}
			if p.model = modelPermit; got {
				pairs = append(pairs, p)
			}
			step = "acquire"
		case n < 90 && len(pairs) > 0:
			p := pairs[max(0, len(pairs)-1-random.IntN(8))]
			step = [...]string{"success", "failure", "neutral"}[random.IntN(3)]
			report(p.real, step)
			if !p.spent {
				m.report(p.model, step)
			}
			p.spent = true
		case n < 98:
			step = "pass"
			pass(time.Duration(random.IntN(1500)) * time.Millisecond)
		default:
			step = "force"
			o := breaker.Override(random.IntN(3))
			b.Force(o)
			m.force(o)
		}
		if got, want := b.State(), m.seen(); got != want {
			t.Fatalf("seed %d step %d (%s): state is %s, the model says %s", seed, i, step, got, want)
		}
		if got, want := b.RetryAfter(), m.left(); got != want {
			t.Fatalf("seed %d step %d (%s): RetryAfter is %s, the model says %s", seed, i, step, got, want)
		}
	}
	if got, want := fmt.Sprint(heard), fmt.Sprint(m.transitions); got != want {
		t.Fatalf("seed %d: heard %s\nthe model says %s", seed, got, want)
	}
}

package limit_test

import (
	"math/big"
	"testing"
	"time"

	"gatehouse/helper/limit"
)

const ms = time.Millisecond

func TestTake(t *testing.T) {
	type call struct {
		at   time.Duration
		n    int
		want limit.Decision
	}
	// Ten a second, burst 3: a token each 100 ms.
	allowed := func(remaining int, reset time.Duration) limit.Decision {
		return limit.Decision{Allowed: true, Limit: 3, Remaining: remaining, Reset: reset}
	}
	refused := func(remaining int, retry, reset time.Duration) limit.Decision {
		return limit.Decision{Limit: 3, Remaining: remaining, RetryAfter: retry, Reset: reset}
	}
	tests := []struct {
		name  string
		calls []call
	}{
		{"the burst passes at once and then nothing", []call{
			{0, 1, allowed(2, 100*ms)}, {0, 1, allowed(1, 200*ms)}, {0, 1, allowed(0, 300*ms)}, {0, 1, refused(0, 100*ms, 300*ms)}}},
		{"a token grows back each interval, not before", []call{
			{0, 3, allowed(0, 300*ms)}, {100*ms - 1, 1, refused(0, 1, 200*ms+1)}, {100 * ms, 1, allowed(0, 300*ms)}}},
		{"a refused request takes no token", []call{
			{0, 3, allowed(0, 300*ms)}, {50 * ms, 1, refused(0, 50*ms, 250*ms)}, {60 * ms, 1, refused(0, 40*ms, 240*ms)}, {100 * ms, 1, allowed(0, 300*ms)}}},
		{"a bucket never holds more than its burst", []call{
			{0, 1, allowed(2, 100*ms)}, {time.Hour, 3, allowed(0, 300*ms)}, {time.Hour, 1, refused(0, 100*ms, 300*ms)}}},
		{"a request for too many leaves the rest to others", []call{
			{0, 1, allowed(2, 100*ms)}, {0, 3, refused(2, 100*ms, 100*ms)}, {0, 2, allowed(0, 300*ms)}}},
		{"more than the burst is never allowed", []call{
			{0, 4, refused(3, 0, 0)}, {0, 1, allowed(2, 100*ms)}, {0, 1 << 62, refused(2, 100*ms, 100*ms)}}},
		{"looking takes nothing", []call{
			{0, 0, allowed(3, 0)}, {0, 2, allowed(1, 200*ms)}, {0, 0, allowed(1, 200*ms)}, {0, 1, allowed(0, 300*ms)}, {0, 0, allowed(0, 300*ms)}}},
		{"a clock that runs backwards mints no token and waits no longer than for a whole bucket", []call{
			{time.Hour, 3, allowed(0, 300*ms)}, {0, 1, refused(0, 100*ms, 300*ms)}, {0, 0, allowed(0, 300*ms)}, {time.Hour, 1, refused(0, 100*ms, 300*ms)}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rule, tat := newRule(t, 10, time.Second, 3), int64(0)
			for i, call := range test.calls {
				next, got := limit.Take(rule, tat, int64(call.at), call.n)
				if got != call.want {
					t.Fatalf("call %d:\ngot  %+v\nwant %+v", i+1, got, call.want)
				}
				if !got.Allowed && next != tat {
					t.Fatalf("call %d was refused and changed the state", i+1)
				}
				tat = next
			}
		})
	}
}

// Ten calls just before the edge of a second and ten just after it: within any
// second no more than the rate and the burst pass.
func TestNoWindowHasAnEdge(t *testing.T) {
	rule, tat := newRule(t, 10, time.Second, 1), int64(0)
	var passed []time.Duration
	for at := time.Duration(0); at < 5*time.Second; at += 10 * ms {
		for range 10 {
			var d limit.Decision
			if tat, d = limit.Take(rule, tat, int64(at), 1); d.Allowed {
				passed = append(passed, at)
			}
		}
	}
	for i := range passed {
		in := 0
		for _, at := range passed[i:] {
			if at-passed[i] <= time.Second {
				in++
			}
		}
		if in > 11 {
			t.Fatalf("%d passed in the second from %s", in, passed[i])
		}
	}
	if len(passed) != 50 {
		t.Errorf("%d passed in five seconds, want 50", len(passed))
	}
}

// naive is a token bucket with exact fractions: the level is kept in units of
// which interval make one token, so that a nanosecond adds one.
type naive struct{ level, full, interval, last *big.Int }

func newNaive(rule limit.Rule) *naive {
	interval := big.NewInt(int64(rule.Interval))
	full := new(big.Int).Mul(interval, big.NewInt(int64(rule.Burst)))
	return &naive{level: new(big.Int).Set(full), full: full, interval: interval, last: new(big.Int)}
}

// take refills the bucket up to now and returns what it holds of the n tokens
// too little; 0 or less is enough.
func (m *naive) take(now int64, n int) *big.Int {
	if at := big.NewInt(now); at.Cmp(m.last) > 0 {
		m.level.Add(m.level, new(big.Int).Sub(at, m.last))
		m.last = at
	}
	if m.level.Cmp(m.full) > 0 {
		m.level.Set(m.full)
	}
	return new(big.Int).Sub(new(big.Int).Mul(m.interval, big.NewInt(int64(n))), m.level)
}

func (m *naive) spend(n int) {
	m.level.Sub(m.level, new(big.Int).Mul(m.interval, big.NewInt(int64(n))))
}

// FuzzTake plays calls against the naive bucket: each pair of bytes in script is
// a step of time, in units of an eighth of the rule's interval, and a number of
// tokens. As long as time only goes on, both agree to the nanosecond; once it
// has gone back, Take may only be the stricter one.
func FuzzTake(f *testing.F) {
	f.Add(uint32(10), int64(time.Second), 3, int64(0), []byte("\x00\x01\x00\x01\x08\x01\x08\x03\x80\x01\x40\x02"))
	f.Add(uint32(1), int64(time.Hour), 876000, int64(1<<61), []byte("\x00\x7f\x01\x01\xff\x7f"))
	f.Add(uint32(1e9), int64(time.Second), 1, int64(1<<60), []byte("\x01\x01\x01\x01\x01\x01"))
	f.Add(uint32(7), int64(time.Minute), 1000, int64(1.8e18), []byte("\x00\x20\x90\x20\x10\x20\x00\x00"))
	f.Fuzz(func(t *testing.T, events uint32, period int64, burst int, start int64, script []byte) {
		rule, err := limit.NewRule("fuzz", int(events), time.Duration(period), burst)
		if err != nil || start < 0 || start > 1<<61 || len(script) > 200 {
			return
		}
		model, tat, now, wentBack := newNaive(rule), int64(0), start, false
		for i := 0; i+1 < len(script); i += 2 {
			step, n := int64(int8(script[i])), min(int(script[i+1]), rule.Burst)
			if n == 0 {
				continue
			}
			before := now
			now = max(0, min(now+step*(int64(rule.Interval)/8+1), 1<<62))
			wentBack = wentBack || now < before
			short := model.take(now, n)
			next, d := limit.Take(rule, tat, now, n)
			if d.Allowed && short.Sign() > 0 {
				t.Fatalf("call %d: %d tokens were minted", i/2, n)
			}
			if d.RetryAfter < 0 || d.Reset < 0 || d.Remaining < 0 || d.Remaining > d.Limit || !d.Allowed && next != tat {
				t.Fatalf("call %d: %+v, state %d to %d", i/2, d, tat, next)
			}
			if d.Allowed {
				model.spend(n)
			}
			if !wentBack {
				want := limit.Decision{Allowed: short.Sign() <= 0, Limit: burst}
				if !want.Allowed {
					want.RetryAfter = time.Duration(short.Int64())
				}
				want.Remaining = int(new(big.Int).Quo(model.level, model.interval).Int64())
				want.Reset = time.Duration(new(big.Int).Sub(model.full, model.level).Int64())
				if d != want {
					t.Fatalf("call %d:\ngot  %+v\nwant %+v", i/2, d, want)
				}
			}
			tat = next
		}
	})
}

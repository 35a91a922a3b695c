package limit_test

import (
	"math"
	"testing"
	"time"

	"gatehouse/helper/limit"
)

func TestHeader(t *testing.T) {
	tests := []struct {
		name     string
		decision limit.Decision
		want     limit.Header
	}{
		{"an allowed request has no Retry-After",
			limit.Decision{Allowed: true, Limit: 50, Remaining: 49, Reset: time.Second},
			limit.Header{Limit: "50", Remaining: "49", Reset: "1"}},
		{"times are rounded up to whole seconds",
			limit.Decision{Limit: 3, RetryAfter: 1001 * time.Millisecond, Reset: 2*time.Second + 1},
			limit.Header{Limit: "3", Remaining: "0", Reset: "3", RetryAfter: "2"}},
		{"Retry-After is at least 1",
			limit.Decision{Limit: 3, Remaining: 3},
			limit.Header{Limit: "3", Remaining: "3", Reset: "0", RetryAfter: "1"}},
		{"a fraction of a second is one second",
			limit.Decision{Limit: 1000, RetryAfter: 1, Reset: 1},
			limit.Header{Limit: "1000", Remaining: "0", Reset: "1", RetryAfter: "1"}},
		{"the longest time there is doesn't overflow",
			limit.Decision{Limit: 1, RetryAfter: math.MaxInt64, Reset: math.MaxInt64},
			limit.Header{Limit: "1", Remaining: "0", Reset: "9223372037", RetryAfter: "9223372037"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.decision.Header(); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	for _, test := range []struct {
		name   string
		events int
		period time.Duration
		burst  int
		want   string
	}{
		{"an interval that is no whole number of nanoseconds", 3, time.Second, 3, "3;w=1"},
		{"seven a minute", 7, time.Minute, 7, "7;w=60"},
		{"a burst of less than a second", 1000, time.Second, 50, "50;w=1"},
		{"a burst of many periods", 10, time.Second, 600, "600;w=60"},
		{"a window of less than half a second more", 10, time.Second, 14, "14;w=1"},
		{"a window of half a second more", 10, time.Second, 15, "15;w=2"},
		{"an hour", 100, time.Hour, 100, "100;w=3600"},
	} {
		rule, err := limit.NewRule("x", test.events, test.period, test.burst)
		if err != nil {
			t.Fatal(err)
		}
		if got := rule.Policy(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestStrictest(t *testing.T) {
	roomy := limit.Decision{Allowed: true, Limit: 100, Remaining: 90}
	tight := limit.Decision{Allowed: true, Limit: 5, Remaining: 1}
	short := limit.Decision{Limit: 100, RetryAfter: time.Second}
	long := limit.Decision{Limit: 5, RetryAfter: time.Minute}
	tests := []struct {
		name       string
		a, b, want limit.Decision
	}{
		{"the fewer tokens left", roomy, tight, tight},
		{"a refusal before an approval", tight, short, short},
		{"of two refusals the longer wait", short, long, long},
		{"a limit with itself", tight, tight, tight},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := limit.Strictest(test.a, test.b); got != test.want {
				t.Errorf("got %+v", got)
			}
			if got := limit.Strictest(test.b, test.a); got != test.want {
				t.Errorf("the other way round: got %+v", got)
			}
		})
	}
}

package limit_test

import (
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/limit"
)

func newRule(t testing.TB, events int, period time.Duration, burst int) limit.Rule {
	t.Helper()
	rule, err := limit.NewRule("test", events, period, burst)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

func TestNewRule(t *testing.T) {
	tests := []struct {
		name         string
		events       int
		period       time.Duration
		burst        int
		wantInterval time.Duration
		wantError    string // a part of it; "": none
	}{
		{"ten a second are one each 100 ms", 10, time.Second, 10, 100 * time.Millisecond, ""},
		{"one an hour", 1, time.Hour, 1, time.Hour, ""},
		{"a rate that doesn't divide is rounded to fewer", 3, time.Second, 3, 333333334, ""},
		{"a billion a second are one a nanosecond", 1e9, time.Second, 1, 1, ""},
		{"a hundred years to fill up are the most", 1, time.Hour, 876000, time.Hour, ""},
		{"rate 0 is refused", 0, time.Second, 5, 0, "rate must be positive"},
		{"a negative rate is refused", -1, time.Second, 5, 0, "rate must be positive"},
		{"period 0 is refused", 5, 0, 5, 0, "rate must be positive"},
		{"a negative period is refused", 5, -time.Second, 5, 0, "rate must be positive"},
		{"burst 0 is refused", 5, time.Second, 0, 0, "burst must be at least 1"},
		{"a negative burst is refused", 5, time.Second, -1, 0, "burst must be at least 1"},
		{"more than one a nanosecond is refused", 1e9 + 1, time.Second, 1, 0, "over one per nanosecond"},
		{"a bucket that takes longer to fill is refused", 1, time.Hour, 876001, 0, "over a hundred years"},
		{"a burst that would overflow is refused", 1, time.Hour, math.MaxInt, 0, "over a hundred years"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rule, err := limit.NewRule("orders", test.events, test.period, test.burst)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) || !strings.Contains(err.Error(), "orders") {
					t.Fatalf("error is %v, want one that names orders and says %q", err, test.wantError)
				}
				return
			}
			if err != nil || rule.Interval != test.wantInterval || rule.Burst != test.burst || rule.Name != "orders" {
				t.Fatalf("rule is %+v, error %v, want interval %s", rule, err, test.wantInterval)
			}
		})
	}
}

func TestAddrKey(t *testing.T) {
	tests := []struct {
		name string
		a, b string
		same bool
	}{
		{"two IPv4 clients have a bucket each", "203.0.113.7", "203.0.113.8", false},
		{"an IPv4 address mapped into IPv6 is the IPv4 address", "203.0.113.7", "::ffff:203.0.113.7", true},
		{"all addresses of a /64 share one", "2001:db8::1", "2001:db8::ffff:2", true},
		{"two /64 have a bucket each", "2001:db8::1", "2001:db8:0:1::1", false},
		{"a zone makes no difference", "fe80::1%eth0", "fe80::1%eth1", true},
		{"IPv4 and IPv6 don't meet at zero", "0.0.0.0", "::", false},
	}
	rule := newRule(t, 5, time.Minute, 5)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := addrKey(rule, netip.MustParseAddr(test.a)), addrKey(rule, netip.MustParseAddr(test.b))
			if (a == b) != test.same {
				t.Errorf("keys of %s and %s: %x, %x", test.a, test.b, a, b)
			}
		})
	}
}

func TestKeysOfDifferentRulesNeverMeet(t *testing.T) {
	addr := netip.MustParseAddr("203.0.113.7")
	first := newRule(t, 5, time.Minute, 5)
	renamed, err := limit.NewRule("other", 5, time.Minute, 5)
	if err != nil {
		t.Fatal(err)
	}
	for name, rule := range map[string]limit.Rule{
		"name":  renamed,
		"rate":  newRule(t, 6, time.Minute, 5),
		"burst": newRule(t, 5, time.Minute, 6),
	} {
		if addrKey(first, addr) == addrKey(rule, addr) || stringKey(first, "ada") == stringKey(rule, "ada") {
			t.Errorf("a rule of another %s shares its buckets", name)
		}
	}
	again := newRule(t, 5, time.Minute, 5)
	if addrKey(first, addr) != addrKey(again, addr) || stringKey(first, "ada") != stringKey(again, "ada") {
		t.Error("the same rule, made again, has lost its buckets")
	}
	if stringKey(first, "ada") == stringKey(first, "bob") || stringKey(first, addr.String()) == addrKey(first, addr) {
		t.Error("two callers of one rule share a bucket")
	}
}

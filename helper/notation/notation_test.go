package notation_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gatehouse/helper/notation"
)

func TestSizesRatesAndNetworksHaveOneMeaning(t *testing.T) {
	size := func(text string) (any, error) { return notation.ParseSize(text) }
	rate := func(text string) (any, error) {
		events, period, err := notation.ParseRate(text)
		return fmt.Sprint(events, " in ", period), err
	}
	network := func(text string) (any, error) {
		prefix, err := notation.ParsePrefix(text)
		return prefix.String(), err
	}
	for _, test := range []struct {
		name  string
		parse func(string) (any, error)
		text  string
		want  any // nil: refused
	}{
		{"bytes need no unit", size, "512", int64(512)},
		{"a unit is a power of two", size, "3MiB", int64(3 << 20)},
		{"the largest size fits", size, "8589934591GiB", int64(math.MaxInt64 - (1<<30 - 1))},
		{"a larger one is refused", size, "8589934592GiB", nil},
		{"a negative size is refused", size, "-1", nil},
		{"a decimal unit is refused", size, "1MB", nil},
		{"a rate a minute", rate, "600/m", "600 in 1m0s"},
		{"no rate", rate, "0", "0 in 0s"},
		{"no rate an hour", rate, "0/h", "0 in 0s"},
		{"a rate a day is refused", rate, "1/d", nil},
		{"a rate faster than the clock is refused", rate, "1000000001/s", nil},
		{"a network", network, "10.0.0.0/8", "10.0.0.0/8"},
		{"an address", network, "2001:db8::1", "2001:db8::1/128"},
		{"bits past the length are refused", network, "10.0.0.1/8", nil},
		{"a zone is refused", network, "fe80::1%eth0", nil},
		{"a name is refused", network, "localhost", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.parse(test.text)
			if (err != nil) != (test.want == nil) || err == nil && got != test.want {
				t.Errorf("%q is %v, %v, want %v", test.text, got, err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"512", "10MiB", "600/m", "0", "10.0.0.0/8", "::ffff:10.0.0.0/104", "1/s", "99999999999999999999GiB"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if size, err := notation.ParseSize(text); err == nil && size < 0 {
			t.Errorf("size %q is negative: %d", text, size)
		}
		if events, period, err := notation.ParseRate(text); err == nil && (events < 0 || period < 0 || (events == 0) != (period == 0) || events > int(time.Second)) {
			t.Errorf("rate %q is %d in %s", text, events, period)
		}
		if prefix, err := notation.ParsePrefix(text); err == nil && (!prefix.IsValid() || prefix != prefix.Masked()) {
			t.Errorf("network %q is %s", text, prefix)
		}
	})
}

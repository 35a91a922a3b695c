package config

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"gatehouse/helper/notation"
)

// The errors of UnmarshalText complete the sentence "VALUE is …" and leave the value itself out: it may come from the environment.

// Duration is a span of time: 250ms, 30s, 5m, 1h. Never negative.
type Duration time.Duration

// UnmarshalText accepts what time.ParseDuration does, but for negative values.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return errors.New("not a duration: write 250ms, 30s, 5m or 1h")
	}
	if parsed < 0 {
		return errors.New("negative: write 250ms, 30s, 5m or 1h")
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText is the shortest form: 90s is 1m30s.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is like time.Duration's, without the zero parts: 5m instead of 5m0s.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// Size is a number of bytes: 512, 64KiB, 10MiB, 1GiB. Never negative.
type Size int64

// UnmarshalText accepts whole bytes, KiB, MiB and GiB.
func (s *Size) UnmarshalText(text []byte) error {
	number, err := notation.ParseSize(string(text))
	if err != nil {
		return err
	}
	*s = Size(number)
	return nil
}

// MarshalText uses the largest unit that leaves a whole number.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String uses the largest unit that leaves a whole number.
func (s Size) String() string {
	for _, name := range []string{"GiB", "MiB", "KiB"} {
		if unit := notation.Unit(name); s != 0 && int64(s)%unit == 0 {
			return strconv.FormatInt(int64(s)/unit, 10) + name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Rate is a number of events in a period: 10/s, 600/m, 5000/h. The zero Rate is none, written 0.
type Rate struct {
	Events int
	Period time.Duration
}

// UnmarshalText accepts 0 and N/s, N/m, N/h.
func (r *Rate) UnmarshalText(text []byte) error {
	events, period, err := notation.ParseRate(string(text))
	if err != nil {
		return err
	}
	*r = Rate{Events: events, Period: period}
	return nil
}

// MarshalText is the form of the file.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String is the form of the file.
func (r Rate) String() string {
	if r.Events == 0 {
		return "0"
	}
	unit := map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h"}[r.Period]
	return fmt.Sprintf("%d/%s", r.Events, unit)
}

// PerSecond is the rate in events a second; 0 is none.
func (r Rate) PerSecond() float64 {
	if r.Events == 0 {
		return 0
	}
	return float64(r.Events) / r.Period.Seconds()
}

// burst is what a rate allows at once when the file doesn't say: one second's worth, at least 1.
func (r Rate) burst() int {
	if r.Events == 0 {
		return 0
	}
	return max(1, int(r.PerSecond()))
}

// Date is a day in UTC, 2027-01-01. The zero Date is none.
type Date struct{ time.Time }

// UnmarshalText accepts YYYY-MM-DD, and "" for none.
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}
	day, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return errors.New("not a date: write 2027-01-01")
	}
	*d = Date{day}
	return nil
}

// MarshalText is the form of the file.
func (d Date) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	return []byte(d.Format(time.DateOnly)), nil
}

// Prefix is a CIDR; a bare address is a prefix of its full length.
type Prefix struct{ netip.Prefix }

// UnmarshalText accepts 10.0.0.0/8, 2001:db8::/32, 127.0.0.1 and ::1. Bits past the length are refused: they are a slip of the pen.
func (p *Prefix) UnmarshalText(text []byte) error {
	prefix, err := notation.ParsePrefix(string(text))
	if err != nil {
		return err
	}
	*p = Prefix{prefix}
	return nil
}

// Secret is a text that is never printed: fmt, JSON and YAML show "***". Convert it to a string to use it.
type Secret string

// String is "***", or "" when there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format hides the secret from every verb of fmt, also those that make no sense for a text.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, s.String()) }

// MarshalText hides the secret from JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

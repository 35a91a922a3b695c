package config

import (
	"net/netip"
	"time"
)

// Duration is a span of time: 250ms, 30s, 5m, 1h. Never negative.
type Duration time.Duration

// Size is a number of bytes: 512, 64KiB, 10MiB, 1GiB. Never negative.
type Size int64

// Rate is a number of events in a period: 10/s, 600/m, 5000/h. The zero Rate is none, written 0.
type Rate struct {
	Events int
	Period time.Duration
}

// Statuses is a set of HTTP statuses, written as a range or a list of them: 500-599 or "500-599,429".
type Statuses []StatusRange

// StatusRange is the statuses from First to Last, both included.
type StatusRange struct{ First, Last int }

// Date is a day in UTC, 2027-01-01. The zero Date is none.
type Date struct{ time.Time }

// Prefix is a CIDR; a bare address is a prefix of its full length.
type Prefix struct{ netip.Prefix }

// Secret is a text that is never printed: fmt, JSON and YAML show "***". Convert it to a string to use it.
type Secret string

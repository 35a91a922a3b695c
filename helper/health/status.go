package health

// Status is what the results so far make of a backend, in one number, so that it
// can change atomically: 0 or n: up, and the last n results were bad; -1 or -1-n: down,
// and the last n were good. The zero Status is up.
type Status int64

const (
	up   Status = 0
	down Status = -1
)

// Thresholds say how many results in a row change a status; less than 1 is 1.
type Thresholds struct {
	HealthyAfter   int // good ones, when down
	UnhealthyAfter int // bad ones, when up
}

// Up tells whether the backend may be used.
func (s Status) Up() bool { return s >= up }

// After returns the status after one more result.
func (s Status) After(good bool, t Thresholds) Status {
	switch {
	case s.Up() && good:
		return up
	case s.Up() && s+1 >= Status(t.UnhealthyAfter):
		return down
	case s.Up():
		return s + 1
	case !good:
		return down
	case -s >= Status(t.HealthyAfter):
		return up
	default:
		return s - 1
	}
}

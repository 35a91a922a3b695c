package server

import (
	"sync"
	"time"
)

// deadline is that of a connection's reads, or of its writes. To move the real one costs more than all the rest of a small
// read, so one that stands is left standing as long as it isn't too late: where it ends an operation too early, the
// operation goes on. It is safe for concurrent use.
type deadline struct {
	move func(time.Time) error // moves the real one

	mu      sync.Mutex
	want    time.Time // zero: none
	real    time.Time // zero: none
	waiting int       // operations
	stopped bool      // by interrupt
}

// set moves the deadline.
func (d *deadline) set(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want = t
	if d.waiting == 0 {
		return nil
	}
	return d.bringForward()
}

// begin is called before an operation, end after it.
func (d *deadline) begin() {
	d.mu.Lock()
	d.waiting++
	_ = d.bringForward() // of a closed connection, which the operation tells
	d.mu.Unlock()
}

func (d *deadline) end() {
	d.mu.Lock()
	d.waiting--
	d.mu.Unlock()
}

// bringForward moves the real deadline if it is too late. It needs d.mu.
func (d *deadline) bringForward() error {
	if d.stopped || d.want.IsZero() || !d.real.IsZero() && !d.real.After(d.want) {
		return nil
	}
	return d.moveTo(d.want)
}

func (d *deadline) moveTo(t time.Time) error {
	d.real = t
	return d.move(t)
}

// over says whether an operation that the real deadline has ended is over. Otherwise it can go on.
func (d *deadline) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.want.IsZero() && !time.Now().Before(d.want) {
		return true
	}
	return d.moveTo(d.want) != nil
}

// interrupt ends what waits for the connection to become readable without being an operation, and resume is called when
// it has ended.
func (d *deadline) interrupt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	_ = d.moveTo(time.Unix(1, 0))
}

func (d *deadline) resume() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = false
	_ = d.moveTo(d.want)
}

// lift takes the real deadline away from what waits, unless that was interrupted.
func (d *deadline) lift() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.stopped && d.moveTo(time.Time{}) == nil
}

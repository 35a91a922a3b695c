package server

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// lazily gives a connection that is no socket lazily moved deadlines, and counts the moves.
func lazily(real net.Conn) (c *Conn, moves *int) {
	c, moves = &Conn{Conn: real}, new(int)
	counted := func(move func(time.Time) error) func(time.Time) error {
		return func(t time.Time) error {
			*moves++
			return move(t)
		}
	}
	c.read.move, c.write.move = counted(real.SetReadDeadline), counted(real.SetWriteDeadline)
	return c, moves
}

// naive is a deadline that is moved each time: an operation is over when it has passed.
type naive struct {
	want   time.Time
	active bool
}

// until says when the operation has ended, if it has by now.
func (n *naive) until(now time.Time) (time.Time, bool) {
	if !n.active || n.want.IsZero() || n.want.After(now) {
		return time.Time{}, false
	}
	n.active = false
	return n.want, true
}

// Whatever is done with a deadline at random, operations end when those under a naive one do.
func TestOperationsEndExactlyAtTheirDeadlines(t *testing.T) {
	for _, test := range []struct {
		name    string
		operate func(*Conn) error
		of      func(*Conn) *deadline
	}{
		{"reads", func(c *Conn) error { _, err := c.Read(make([]byte, 2)); return err }, func(c *Conn) *deadline { return &c.read }},
		{"writes", func(c *Conn) error { _, err := c.Write(make([]byte, 2)); return err }, func(c *Conn) *deadline { return &c.write }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(400) {
				synctest.Test(t, func(t *testing.T) {
					ours, theirs := net.Pipe() // nobody reads or writes the other end: only deadlines end operations
					c, _ := lazily(ours)
					defer theirs.Close()
					defer ours.Close()
					s := schedule{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), d: test.of(c), operate: func() error { return test.operate(c) }}
					s.run()
				})
			}
		})
	}
}

// schedule is what happens to a deadline at random. Everything happens in whole seconds, and deadlines pass between them.
type schedule struct {
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	d       *deadline
	operate func() error
	model   naive
	ended   chan time.Time
}

func (s *schedule) run() {
	s.ended = make(chan time.Time, 1)
	for range 40 {
		s.act()
		synctest.Wait()
		s.compare()
		<-time.After(time.Duration(s.random.IntN(3)) * time.Second)
		synctest.Wait()
		s.compare()
	}
}

func (s *schedule) act() {
	switch s.random.IntN(5) {
	case 0: // a look comes to its end while the deadline is moved
		s.d.interrupt()
		if s.random.IntN(2) == 0 {
			s.set()
		}
		s.d.resume()
	case 1: // a look takes the real one away
		if !s.model.active {
			s.d.lift()
		}
	case 2, 3:
		s.set()
	default:
		if !s.model.active {
			s.model.active = true
			go func() {
				if err := s.operate(); !errors.Is(err, os.ErrDeadlineExceeded) {
					return // the test is over
				}
				s.ended <- time.Now()
			}()
		}
	}
}

func (s *schedule) set() {
	switch s.random.IntN(5) {
	case 0:
		s.model.want = time.Time{}
	case 1:
		s.model.want = time.Unix(1, 0)
	default:
		s.model.want = time.Now().Add(time.Duration(s.random.IntN(8))*time.Second + time.Second/2)
	}
	if err := s.d.set(s.model.want); err != nil {
		s.t.Fatal(err)
	}
}

func (s *schedule) compare() {
	began := time.Now()
	want, over := s.model.until(began)
	select {
	case got := <-s.ended:
		// One that had passed before the operation, or before it was set, ends it at once.
		if late := got.Sub(want); !over || late != 0 && got != began {
			s.t.Fatalf("seed %d: an operation ended at %v, want %v", s.seed, got, want)
		}
	default:
		if over {
			s.t.Fatalf("seed %d: an operation goes on at %v, but its deadline was %v", s.seed, began, want)
		}
	}
}

func TestTheRealDeadlineIsSeldomMoved(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name string
		do   func(d *deadline)
		want int
	}{
		{"nothing waits", func(d *deadline) { _ = d.set(now) }, 0},
		{"there is none", func(d *deadline) { d.begin(); d.end() }, 0},
		{"the first", func(d *deadline) { _ = d.set(now); d.begin(); d.end() }, 1},
		{"each is later than the one before", func(d *deadline) {
			for i := range 1000 {
				_ = d.set(now.Add(time.Duration(i)))
				d.begin()
				d.end()
			}
		}, 1},
		{"later, while something waits", func(d *deadline) { _ = d.set(now); d.begin(); _ = d.set(now.Add(1)); d.end() }, 1},
		{"none any more, while something waits", func(d *deadline) { _ = d.set(now); d.begin(); _ = d.set(time.Time{}); d.end() }, 1},
		{"earlier, while something waits", func(d *deadline) { _ = d.set(now); d.begin(); _ = d.set(now.Add(-1)); d.end() }, 2},
		{"earlier, between two", func(d *deadline) {
			_ = d.set(now)
			d.begin()
			d.end()
			_ = d.set(now.Add(-1))
			d.begin()
			d.end()
		}, 2},
		{"earlier, behind one", func(d *deadline) { _ = d.set(now); d.begin(); d.end(); _ = d.set(now.Add(-1)) }, 1},
		{"two at once", func(d *deadline) {
			_ = d.set(now)
			d.begin()
			d.begin()
			d.end()
			_ = d.set(now.Add(-1))
			d.end()
		}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			moves := 0
			d := &deadline{move: func(time.Time) error { moves++; return nil }}
			if test.do(d); moves != test.want {
				t.Errorf("moved %d times, want %d", moves, test.want)
			}
		})
	}
}

// A connection that can't be waited for isn't waited for again and again.
func TestADeadlineThatCannotBeMovedEndsWhatWaits(t *testing.T) {
	d := &deadline{move: func(time.Time) error { return net.ErrClosed }}
	_ = d.set(time.Now().Add(time.Hour))
	if d.begin(); !d.over() {
		t.Error("the operation goes on")
	}
	if err := d.set(time.Now()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("set says %v to what waits", err)
	}
	if d.lift() {
		t.Error("the look goes on")
	}
}

// What an earlier deadline interrupts loses nothing and sends nothing twice.
func TestOperationsGoOnBehindEarlierDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		defer ours.Close()
		c, moves := lazily(ours)
		earlier, later := time.Now().Add(2*time.Second), time.Now().Add(10*time.Second)
		_ = ours.SetDeadline(earlier)
		c.read.real, c.write.real = earlier, earlier
		_ = c.SetDeadline(later)

		go func() {
			time.Sleep(time.Second)
			_, _ = io.ReadFull(theirs, make([]byte, 3))
			time.Sleep(4 * time.Second)
			rest, _ := io.ReadAll(io.LimitReader(theirs, 7))
			_, _ = theirs.Write(rest)
		}()
		if n, err := io.WriteString(c, "0123456789"); n != 10 || err != nil {
			t.Errorf("Write is %d, %v", n, err)
		}
		back := make([]byte, 7)
		if _, err := io.ReadFull(c, back); err != nil || string(back) != "3456789" {
			t.Errorf("the rest arrived as %q, %v", back, err)
		}
		if *moves != 2 {
			t.Errorf("deadlines were moved %d times, want once for each direction", *moves)
		}

		if n, err := c.Read(back); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Equal(later) {
			t.Errorf("Read is %d, %v at %v, want %v", n, err, time.Now(), later)
		}
	})
}

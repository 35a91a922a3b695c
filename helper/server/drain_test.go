package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// memory is a listener whose connections are pipes, so that a whole server can live in a synctest bubble.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error   { m.once.Do(func() { close(m.closed) }); return nil }
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// dial is false once the listener has closed.
func (m *memory) dial() (net.Conn, bool) {
	select {
	case <-m.closed:
		return nil, false
	default:
	}
	ours, theirs := net.Pipe()
	m.conns <- theirs
	return ours, true
}

// subject is a server with a handler that works for as long as it is told, and counts what is in flight.
type subject struct {
	*Server
	memory   *memory
	served   chan error
	inFlight atomic.Int64
	started  time.Time
	events   []string // of the drain and of the requests, with their time
	mu       sync.Mutex
}

func newSubject(work time.Duration) *subject {
	s := &subject{memory: newMemory(), served: make(chan error, 1), started: time.Now()}
	s.Server = serverOn(s.memory, Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inFlight.Add(1)
		defer s.inFlight.Add(-1)
		var upgraded net.Conn
		if r.URL.Path == "/upgrade" {
			upgraded, _, _ = w.(http.Hijacker).Hijack()
			defer upgraded.Close()
		}
		select {
		case <-time.After(work):
			s.event("request finished")
		case <-r.Context().Done():
			s.event("request cut")
		}
	})})
	go func() { s.served <- s.Serve() }()
	return s
}

func (s *subject) event(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, time.Since(s.started).String()+" "+what)
}

// request sends one and reads its answer, if any, in the background.
func (s *subject) request(path string) {
	conn, ok := s.memory.dial()
	if !ok {
		return
	}
	go func() {
		defer conn.Close()
		request, _ := http.NewRequest(http.MethodGet, "http://x"+path, nil)
		_ = request.Write(conn)
		_, _ = http.ReadResponse(bufio.NewReader(conn), request)
	}()
}

func (s *subject) wait(ctx context.Context) error {
	for s.inFlight.Load() > 0 {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *subject) drain(ctx context.Context, delay, timeout time.Duration) (int64, error) {
	cut, err := s.Drain(ctx, Drain{Delay: delay, Timeout: timeout, Begin: func() { s.event("begin") }, Wait: s.wait, InFlight: s.inFlight.Load})
	s.event("drained")
	return cut, err
}

func TestDrain(t *testing.T) {
	tests := []struct {
		name    string
		path    string
		work    time.Duration
		timeout time.Duration
		cut     int64
		events  []string
	}{
		{"a request in flight is finished", "/", 4 * time.Second, 30 * time.Second, 0,
			[]string{"0s begin", "4s request finished", "4s drained"}},
		{"an upgraded connection is waited for", "/upgrade", 4 * time.Second, 30 * time.Second, 0,
			[]string{"0s begin", "4s request finished", "4s drained"}},
		{"a request that takes too long is cut", "/", time.Hour, 30 * time.Second, 1,
			[]string{"0s begin", "31s request cut", "31s drained"}},
		{"so is an upgraded connection", "/upgrade", time.Hour, 30 * time.Second, 1,
			[]string{"0s begin", "31s request cut", "31s drained"}},
		{"no timeout at all cuts after the delay", "/", time.Hour, 0, 1,
			[]string{"0s begin", "1s request cut", "1s drained"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSubject(test.work)
				s.request(test.path)
				synctest.Wait()
				cut, err := s.drain(t.Context(), time.Second, test.timeout)
				if err != nil || cut != test.cut {
					t.Errorf("Drain is %d, %v, want %d", cut, err, test.cut)
				}
				// net/http and the wait here look for the end every so often, so times are compared by the second
				if got := inSeconds(s.events); !slices.Equal(got, test.events) {
					t.Errorf("got %q, want %q", got, test.events)
				}
				if err := <-s.served; err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

func TestDrainTakesRequestsDuringTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubject(time.Second)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if cut, err := s.drain(t.Context(), 10*time.Second, 30*time.Second); cut != 0 || err != nil {
				t.Errorf("Drain is %d, %v", cut, err)
			}
		}()
		<-time.After(9 * time.Second)
		s.request("/") // a load balancer that hasn't noticed yet
		<-done
		want := []string{"0s begin", "10s request finished", "10s drained"}
		if got := inSeconds(s.events); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, open := s.memory.dial(); open {
			t.Error("the listener still accepts")
		}
		<-s.served
	})
}

func TestDrainEndsAtOnceWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubject(time.Hour)
		s.request("/")
		synctest.Wait()
		impatient := errors.New("impatient")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(impatient) })
		if cut, err := s.drain(ctx, time.Hour, time.Hour); cut != 1 || !errors.Is(err, impatient) {
			t.Errorf("Drain is %d, %v, want 1 cut and the cause", cut, err)
		}
		want := []string{"0s begin", "3s request cut", "3s drained"}
		if got := inSeconds(s.events); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		<-s.served
	})
}

// inSeconds cuts the fractions off the events' times.
func inSeconds(events []string) []string {
	short := make([]string, len(events))
	for i, event := range events {
		at, what, _ := strings.Cut(event, " ")
		d, _ := time.ParseDuration(at)
		short[i] = d.Truncate(time.Second).String() + " " + what
	}
	return short
}

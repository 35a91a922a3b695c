package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/health"
	"gatehouse/helper/upstream"
)

// names answers lookups with what the test says.
type names struct {
	mu        sync.Mutex
	addresses string
	err       error
	asked     int
}

func (n *names) say(addresses string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses, n.err = addresses, err
}

func (n *names) lookUp(context.Context, string) (found []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	for text := range strings.FieldsSeq(n.addresses) {
		found = append(found, netip.MustParseAddr(text))
	}
	return found, n.err
}

// closing is a transport that counts how often its idle connections were closed.
type closing struct {
	http.RoundTripper
	closed int
}

func (c *closing) CloseIdleConnections() { c.closed++ }

// A name's addresses are backends, whoever comes and goes; a lookup that fails
// changes nothing.
func TestANameIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns := &names{}
		dns.say("10.0.0.2 10.0.0.1", nil)
		transports := map[string]*closing{}
		var told []string
		o := inTurn(t)
		o.Lookup = dns.lookUp
		o.OnLookup = func(b *upstream.Backend, addresses []netip.Addr, cause error) {
			told = append(told, fmt.Sprint(b.Name, addresses, cause))
		}
		o.Members = []upstream.Member{{Backend: backend(t, "http://app"), Weight: 1, Host: "app", At: func(a netip.Addr) (*upstream.Backend, error) {
			transports[a.String()] = &closing{}
			return upstream.NewBackend("http://app", transports[a.String()])
		}}}
		p := upstream.NewPool(o, nil)
		addresses := func() string {
			synctest.Wait()
			var all []string
			for _, b := range p.Backends() {
				all = append(all, b.Address.String())
			}
			return strings.Join(all, " ")
		}
		if got := fmt.Sprint(picks(p, 1)); got != "[app]" {
			t.Errorf("before the first lookup: %s", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		if got := addresses(); got != "10.0.0.1 10.0.0.2" {
			t.Errorf("at first: %s", got)
		}
		held := make([]upstream.Attempt, 2)
		var ones []*upstream.Backend
		for i := range held {
			ones = append(ones, p.Pick(&held[i], 0))
		}
		if o.Members[0].Backend.InFlight() != 2 || ones[0] == ones[1] || ones[0].InFlight() != 1 {
			t.Error("requests in flight are counted for the address and for the name")
		}
		for _, step := range []struct {
			name, addresses string
			err             error
			want            string
		}{
			{"the same in another order", "10.0.0.1 10.0.0.2", nil, "10.0.0.1 10.0.0.2"},
			{"one leaves and one comes, mapped to IPv6", "::ffff:10.0.0.3 10.0.0.2", nil, "10.0.0.2 10.0.0.3"},
			{"the lookup fails", "", errors.New("no such host"), "10.0.0.2 10.0.0.3"},
			{"the name has no address", "", nil, "10.0.0.2 10.0.0.3"},
			{"it is well again", "10.0.0.2 10.0.0.3", nil, "10.0.0.2 10.0.0.3"},
		} {
			dns.say(step.addresses, step.err)
			time.Sleep(10 * time.Second) // of the bubble's clock
			if got := addresses(); got != step.want {
				t.Errorf("%s: %s, want %s", step.name, got, step.want)
			}
		}
		for i := range held {
			held[i].Success()
			held[i].Release()
		}
		if transports["10.0.0.1"].closed != 1 || transports["10.0.0.2"].closed != 0 {
			t.Error("the connections of an address that left, and only those, are closed")
		}
		if o.Members[0].Backend.InFlight() != 0 {
			t.Error("requests to an address that left are still counted")
		}
		o.Members[0].Backend.Drain(true)
		if got := fmt.Sprint(picks(p, 1)); got != "[none]" {
			t.Errorf("a name that drains still gets requests: %s", got)
		}
		o.Members[0].Backend.Drain(false)
		next := upstream.NewPool(o, p)
		if len(next.Backends()) != 2 || next.Backends()[0].Backend != p.Backends()[0].Backend {
			t.Error("another pool looks the name up before it knows what this one knew")
		}
		cancel()
		if err := <-done; err != nil || transports["10.0.0.2"].closed != 1 {
			t.Errorf("the end: %v, connections closed %d times", err, transports["10.0.0.2"].closed)
		}
		if len(told) != 4 {
			t.Errorf("told %q", told)
		}
	})
}

func TestABackendThatFailsItsChecksGetsNoRequest(t *testing.T) {
	defer goleak.VerifyNone(t)
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer up.Close()
	down := httptest.NewServer(http.NotFoundHandler())
	defer down.Close()
	o := inTurn(t, strings.TrimPrefix(up.URL, "http://"), strings.TrimPrefix(down.URL, "http://"))
	o.Checks = health.Checks{Interval: time.Hour, Timeout: 10 * time.Second, Expect: func(status int) bool { return status == 200 }}
	o.Target = func(b *upstream.Backend) health.Target {
		return health.Target{URL: b.Target, Transport: &http.Transport{}}
	}
	var told sync.Map
	o.OnCheck = func(b *upstream.Backend, cause error) { told.Store(b.Name, cause) }
	p := upstream.NewPool(o, nil)
	if p.Ready() {
		t.Error("it is ready before anybody was asked")
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	for !p.Ready() {
		runtime.Gosched() // nothing tells when the last check is counted
	}
	if got, want := fmt.Sprint(picks(p, 2)), fmt.Sprintf("[%[1]s %[1]s]", o.Members[0].Backend.Name[len("http://"):]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if cause, ok := told.Load(down.URL); !ok || cause == nil {
		t.Error("nobody was told why it is down")
	}
	next := upstream.NewPool(o, p)
	if !next.Ready() || next.Usable(down.URL) || !next.Usable(up.URL) {
		t.Error("another pool has forgotten who is down")
	}
	cancel()
	<-done
}

func TestAThousandPoolsLeaveNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	backends := httptest.NewServer(http.NotFoundHandler())
	defer backends.Close()
	var before *upstream.Pool
	for range 1000 {
		o := inTurn(t, strings.TrimPrefix(backends.URL, "http://"))
		o.Checks = health.Checks{Interval: time.Hour, Timeout: time.Second, Expect: func(int) bool { return true }}
		o.Target = func(b *upstream.Backend) health.Target {
			return health.Target{URL: b.Target, Transport: &http.Transport{}}
		}
		p := upstream.NewPool(o, before)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		picks(p, 1)
		cancel()
		<-done
		before = p
	}
}

// Whatever happens to a pool, places are given back and a pick is one of its
// backends.
func TestRequestsWhileBackendsComeAndGo(t *testing.T) {
	o := inTurn(t, "a", "b", "c")
	o.Ejection.For = 0
	p := upstream.NewPool(o, nil)
	var group sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		group.Go(func() {
			for n := i; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				var a upstream.Attempt
				for range 3 {
					if p.Pick(&a, uint64(n)) == nil {
						break
					}
					if n%3 == 0 {
						a.Failure()
					} else {
						a.Success()
					}
					a.Release()
				}
			}
		})
	}
	for n := range 200 {
		p.Backends()[n%3].Drain(n%2 == 0)
		p.Usable("")
	}
	close(stop)
	group.Wait()
	for _, b := range p.Backends() {
		if b.InFlight() != 0 {
			t.Errorf("%s has %d in flight", b.Name, b.InFlight())
		}
	}
}

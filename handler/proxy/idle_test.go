package proxy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/transport"
)

func silentLog() *log.Logger { return log.New(io.Discard, "", 0) }

// watchedConn tells when the transport has closed it.
type watchedConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *watchedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestServerClosedIdleConnection provokes the one error of net/http that can be
// told by its text alone: the backend closes a kept connection after a POST has
// been given it and before a byte is written.
func TestServerClosedIdleConnection(t *testing.T) {
	var backendSide net.Conn
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		backendSide = c
		return ctx
	}
	server.Start()
	defer server.Close()
	var clientSide *watchedConn
	rt := transport.New(transport.Options{})
	rt.MaxIdleConnsPerHost = 1
	dial := rt.DialContext
	rt.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		clientSide = &watchedConn{Conn: conn, closed: make(chan struct{})}
		return clientSide, err
	}
	if _, err := roundTrip(t, rt, http.MethodPost, server.URL); err != nil {
		t.Fatal(err)
	}
	reused := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		reused = info.Reused
		backendSide.Close()
		<-clientSide.closed
	}})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.RoundTrip(r)
	if err == nil {
		res.Body.Close()
		t.Fatal("the request succeeded")
	}
	if !reused || err.Error() != serverClosedIdle {
		t.Fatalf("the error is %q (reused: %v), want %q: has net/http changed its text?", err, reused, serverClosedIdle)
	}
	if v := classify(nil, nil, err); v.problem.Code != problem.UpstreamReset || v.outcome != exchange.Failure {
		t.Errorf("got %s, outcome %d", v.problem.Code, v.outcome)
	}
}

// A kept connection that the backend closes upon the second request is a reset.
func TestKeptConnectionClosedUponTheSecondRequest(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	rt := transport.New(transport.Options{MaxIdle: 1})
	if _, err := roundTrip(t, rt, http.MethodPost, server.URL); err != nil {
		t.Fatal(err)
	}
	_, err := roundTrip(t, rt, http.MethodPost, server.URL)
	if err == nil || requests.Load() != 2 {
		t.Fatalf("%v after %d requests", err, requests.Load())
	}
	if v := classify(nil, nil, err); v.problem.Code != problem.UpstreamReset {
		t.Errorf("%v is %s", err, v.problem.Code)
	}
}

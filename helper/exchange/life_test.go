package exchange_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/server"
)

// front serves handle on a real server, and returns it and a client's connection to it.
func front(t *testing.T, watches bool, handle func(*exchange.Exchange, *http.Request)) (*server.Server, net.Conn) {
	t.Helper()
	s, err := server.New(server.Options{Address: "127.0.0.1:0", Watches: watches, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ex, r := exchange.Begin(w, r, time.Minute)
		defer ex.End()
		handle(ex, r)
	})})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		if err := errors.Join(s.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return s, conn
}

const lasting = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// How a request ends is the cause of its context's end, whether the client is watched or net/http's context tells.
func TestHowARequestEnds(t *testing.T) {
	mine := errors.New("mine")
	for _, test := range []struct {
		name string
		end  func(s *server.Server, client net.Conn, ex *exchange.Exchange)
		want error
	}{
		{"its client leaves", func(_ *server.Server, client net.Conn, _ *exchange.Exchange) { client.Close() }, context.Canceled},
		{"its client sends nothing more", func(_ *server.Server, client net.Conn, _ *exchange.Exchange) {
			_ = client.(*net.TCPConn).CloseWrite()
		}, context.Canceled},
		{"the server closes", func(s *server.Server, _ net.Conn, _ *exchange.Exchange) { _ = s.Close() }, server.ErrClosed},
		{"somebody cancels it, and the first cause counts", func(s *server.Server, _ net.Conn, ex *exchange.Exchange) {
			ex.Cancel(mine)
			_ = s.Close()
		}, mine},
	} {
		for _, watches := range []bool{false, true} {
			name := test.name
			if watches {
				name += ", and is watched"
			}
			t.Run(name, func(t *testing.T) {
				entered, cause := make(chan *exchange.Exchange), make(chan error, 1)
				s, client := front(t, watches, func(ex *exchange.Exchange, r *http.Request) {
					if exchange.From(r.Context()) != ex || r.Context() != ex.Context() {
						t.Error("the context is another's")
					}
					entered <- ex
					<-r.Context().Done()
					cause <- context.Cause(r.Context())
				})
				if _, err := io.WriteString(client, lasting); err != nil {
					t.Fatal(err)
				}
				test.end(s, client, <-entered)
				if got := <-cause; !errors.Is(got, test.want) {
					t.Errorf("the cause is %v, want %v", got, test.want)
				}
			})
		}
	}
}

func TestARequestThatIsAnsweredHasEnded(t *testing.T) {
	for _, watches := range []bool{false, true} {
		ended := make(chan *exchange.Exchange, 1)
		_, client := front(t, watches, func(ex *exchange.Exchange, r *http.Request) {
			if err := r.Context().Err(); err != nil {
				t.Errorf("it begins with %v", err)
			}
			if _, limited := r.Context().Deadline(); limited {
				t.Error("it has a deadline")
			}
			if r.Context().Value(http.LocalAddrContextKey) == nil {
				t.Error("net/http's values are lost")
			}
			ended <- ex
		})
		r := bufio.NewReader(client)
		for range 3 {
			if _, err := io.WriteString(client, lasting); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			ctx := (<-ended).Context()
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				t.Errorf("the cause is %v", cause)
			}
		}
	}
}

// A connection that was taken over is no longer watched: what comes is its new owner's, who also notices its end. The server's
// end still ends the request.
func TestAnUpgradedRequestEndsWithTheServer(t *testing.T) {
	for _, watches := range []bool{false, true} {
		entered, cause, ended := make(chan struct{}), make(chan error, 1), make(chan error, 1)
		s, client := front(t, watches, func(ex *exchange.Exchange, r *http.Request) {
			conn, _, err := ex.Writer.Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			close(entered)
			got, err := io.ReadAll(conn) // net/http's reader would end the context at the client's end
			if string(got) != "frames" {
				t.Errorf("got %q, %v", got, err)
			}
			ended <- r.Context().Err()
			<-r.Context().Done()
			cause <- context.Cause(r.Context())
		})
		if _, err := io.WriteString(client, lasting); err != nil {
			t.Fatal(err)
		}
		<-entered
		if _, err := io.WriteString(client, "frames"); err != nil {
			t.Fatal(err)
		}
		_ = client.(*net.TCPConn).CloseWrite()
		if err := <-ended; err != nil {
			t.Errorf("watched %v: the client's half end is %v", watches, err)
		}
		_ = s.Close()
		if got := <-cause; !errors.Is(got, server.ErrClosed) {
			t.Errorf("watched %v: the cause is %v", watches, got)
		}
	}
}

// The end of a call is told also where there is no server, as for a request that is only asked about.
func TestALaneEndsWithItsRequest(t *testing.T) {
	ctx, leave := context.WithCancelCause(context.Background())
	gone := errors.New("gone")
	ex, r := exchange.Begin(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil), 0)
	leave(gone)
	<-r.Context().Done()
	if cause := context.Cause(r.Context()); !errors.Is(cause, gone) {
		t.Errorf("the cause is %v", cause)
	}
	ex.End()

	ctx, leave = context.WithCancelCause(context.Background())
	ex, r = exchange.Begin(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil), 0)
	ex.End()
	leave(gone)
	if cause := context.Cause(r.Context()); !errors.Is(cause, context.Canceled) || errors.Is(cause, gone) {
		t.Errorf("after its end the cause is %v", cause)
	}
}

// A connection of HTTP/2 has many requests, so each ends with net/http's context.
func TestARequestOfHTTP2EndsWithItsClient(t *testing.T) {
	cause := make(chan error, 1)
	ctx, leave := context.WithCancel(t.Context())
	s, err := server.New(server.Options{Address: "127.0.0.1:0", Watches: true, H2C: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ex, r := exchange.Begin(w, r, time.Minute)
		defer ex.End()
		leave()
		select {
		case <-r.Context().Done():
			cause <- context.Cause(r.Context())
		case <-time.After(20 * time.Second):
			cause <- errors.New("nobody noticed")
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	defer func() {
		if err := errors.Join(s.Close(), <-served); err != nil {
			t.Error(err)
		}
	}()
	transport := &http.Transport{Protocols: &http.Protocols{}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Addr(), nil)
	_, _ = transport.RoundTrip(request)
	if got := <-cause; !errors.Is(got, context.Canceled) {
		t.Errorf("the cause is %v", got)
	}
}

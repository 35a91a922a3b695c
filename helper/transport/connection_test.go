package transport_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/transport"
)

// A kept-alive connection can end as a request is written to it.
func TestAConnectionEndsUnderARequest(t *testing.T) {
	for _, row := range []struct {
		method, header string
		again          bool
	}{
		{http.MethodGet, "", true}, {http.MethodHead, "", true}, {http.MethodOptions, "", true},
		{http.MethodPost, "", false}, {http.MethodPut, "", false}, // the proxy's own to repeat: it asks for GotConn
		{http.MethodPost, "Idempotency-Key: 1", true},
	} {
		t.Run(row.method+" "+row.header, func(t *testing.T) {
			s := plays(t, func(_, request int, w net.Conn) bool { return request == 1 && says(ok)(0, 0, w) })
			l := lane(t, transport.Options{}, s.URL())
			if _, _, err := send(t, l, http.MethodGet, s.URL()); err != nil {
				t.Fatal(err)
			}
			r := request(t.Context(), t, row.method, s.URL(), nil)
			if name, value, given := strings.Cut(row.header, ": "); given {
				r.Header.Set(name, value)
			}
			var reused []bool
			res, err := l.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
				GotConn: func(info httptrace.GotConnInfo) { reused = append(reused, info.Reused) },
			})))
			if (err == nil) != row.again {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				res.Body.Close()
			}
			if len(reused) == 0 || !reused[0] {
				t.Errorf("the connections were reused: %v", reused)
			}
		})
	}
}

// A connection that ended while it was unused isn't taken, so also a POST goes
// through, and nobody waits for bytes that nobody asked for.
func TestUnusedConnectionsAreLookedAt(t *testing.T) {
	for _, row := range []struct {
		name  string
		after func(net.Conn) // what the backend does after its first answer
	}{
		{"the backend closed it", func(w net.Conn) { w.Close() }},
		{"the backend reset it", func(w net.Conn) { _ = w.(*net.TCPConn).SetLinger(0); w.Close() }},
		{"the backend went on talking", func(w net.Conn) { _, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			answered, happened := make(chan struct{}), make(chan struct{})
			s := plays(t, func(conn, _ int, w net.Conn) bool {
				_, err := io.WriteString(w, ok)
				if conn == 1 {
					<-answered
					row.after(w)
					close(happened)
				}
				return err == nil
			})
			l := lane(t, transport.Options{}, s.URL())
			for i := range 2 {
				if _, body, err := send(t, l, http.MethodPost, s.URL()); body != "ok" || err != nil {
					t.Errorf("got %q, %v", body, err)
				}
				if i == 0 {
					close(answered)
					<-happened // over loopback it has arrived when the call returns
				}
			}
		})
	}
}

func TestWhatComesBehindAnAnswerIsNotTheNextOne(t *testing.T) {
	s := plays(t, func(conn, _ int, w net.Conn) bool {
		if conn == 1 {
			return says(ok+"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")(0, 0, w)
		}
		return says(ok)(0, 0, w)
	})
	l := lane(t, transport.Options{}, s.URL())
	for range 3 {
		if _, body, err := send(t, l, http.MethodGet, s.URL()); body != "ok" || err != nil {
			t.Errorf("got %q, %v", body, err)
		}
	}
	if s.connections() != 2 {
		t.Errorf("took %d connections", s.connections())
	}
}

func TestHowManyUnusedConnectionsAreKept(t *testing.T) {
	for _, row := range []struct{ max, want int }{{0, 0}, {2, 1}, {3, 0}} {
		s := plays(t, says(ok))
		l := lane(t, transport.Options{MaxIdle: row.max}, s.URL())
		round := func() {
			var answers []*http.Response
			for range 3 {
				res, err := l.RoundTrip(request(t.Context(), t, http.MethodGet, s.URL(), nil))
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, res)
			}
			for _, res := range answers {
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		}
		round()
		round()
		if got := s.connections() - 3; got != row.want {
			t.Errorf("at most %d: three requests at once made %d new connections, want %d", row.max, got, row.want)
		}
	}
}

// An unused connection is closed after its time, though no request comes.
func TestUnusedConnectionsGrowOld(t *testing.T) {
	ended := make(chan struct{})
	s := plays(t, func(_, _ int, w net.Conn) bool {
		_, _ = io.WriteString(w, ok)
		_, _ = w.Read(make([]byte, 1))
		close(ended)
		return false
	})
	l := lane(t, transport.Options{IdleConn: time.Millisecond}, s.URL())
	if _, _, err := send(t, l, http.MethodGet, s.URL()); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestCloseIdleConnections(t *testing.T) {
	s := plays(t, says(ok))
	l := lane(t, transport.Options{}, s.URL())
	held, err := l.RoundTrip(request(t.Context(), t, http.MethodGet, s.URL(), nil))
	if err != nil {
		t.Fatal(err)
	}
	l.CloseIdleConnections()
	if body, err := io.ReadAll(held.Body); string(body) != "ok" || err != nil {
		t.Errorf("a connection in use was closed: %q, %v", body, err)
	}
	for want := 2; want < 4; want++ { // what came back after it was closed too
		send(t, l, http.MethodGet, s.URL()) // the connections are counted
		if s.connections() != want {
			t.Errorf("%d connections, want %d", s.connections(), want)
		}
		l.CloseIdleConnections()
	}
}

func TestABodyThatIsClosedEarlyEndsItsConnection(t *testing.T) {
	ended := make(chan struct{})
	s := plays(t, func(_, _ int, w net.Conn) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
		_, _ = w.Read(make([]byte, 1))
		close(ended)
		return false
	})
	l := lane(t, transport.Options{}, s.URL())
	res, err := l.RoundTrip(request(t.Context(), t, http.MethodGet, s.URL(), nil))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res.Body.Close()
	<-ended
	if _, err := res.Body.Read(make([]byte, 1)); err == nil {
		t.Error("a closed body can be read")
	}
}

// Over TLS the first answer tells which HTTP the backend speaks.
func TestTLS(t *testing.T) {
	for _, row := range []struct {
		name  string
		http2 bool
		major int
		want  int // connections for three requests: the first is http.Transport's
	}{{"HTTP/1.1", false, 1, 2}, {"HTTP/2", true, 2, 1}} {
		t.Run(row.name, func(t *testing.T) {
			conns := make(map[string]bool)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conns[r.RemoteAddr] = true
				_, _ = io.WriteString(w, "ok")
			}))
			server.EnableHTTP2 = row.http2
			server.StartTLS()
			defer server.Close()
			roots := x509.NewCertPool()
			roots.AddCert(server.Certificate())
			l := lane(t, transport.Options{TLS: &tls.Config{RootCAs: roots}, Connect: time.Minute, ResponseHeader: time.Minute}, server.URL)
			for range 3 {
				res, body, err := send(t, l, http.MethodGet, server.URL)
				if err != nil || body != "ok" || res.ProtoMajor != row.major || res.TLS == nil {
					t.Fatalf("got %q, %+v, %v", body, res, err)
				}
			}
			if len(conns) != row.want {
				t.Errorf("took %d connections, want %d", len(conns), row.want)
			}
		})
	}
}

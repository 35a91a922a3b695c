package server

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A request that net/http refuses by itself is counted, one that the handler gets isn't, however its connection ends.
func TestRefusedRequestsAreCounted(t *testing.T) {
	secure, _ := certificate(t)
	everybody := func(netip.Addr) bool { return true }
	for _, listener := range []struct {
		name    string
		options Options
		dial    func(address string) (net.Conn, error)
	}{
		{"plain", Options{Watches: true}, nil},
		{"plain, also for HTTP/2", Options{Watches: true, H2C: true}, nil},
		{"of others", Options{}, nil},
		{"behind the PROXY protocol", Options{Watches: true, ProxyHeaderFrom: everybody}, nil},
		{"TLS", Options{Watches: true, TLS: secure}, func(address string) (net.Conn, error) {
			return tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		}},
	} {
		for _, row := range []struct {
			name, text string
			want       int32
		}{
			{"nothing", "", 0},
			{"garbage", "garbage that is longer than the preface of HTTP/2\r\n\r\n", 1},
			{"two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 1},
			{"a large header", "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", 1},
			{"an unknown coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 1},
			{"an unknown version", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 1},
			{"half a header", "GET / HTTP/1.1\r\nHost: x\r\n", 1},
			{"a request", plainGet, 0},
			{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", 0},
			{"the last request", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0},
			{"a handler that panics", "GET /panic HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		} {
			if strings.HasPrefix(row.text, "PRI") && !listener.options.H2C {
				continue // refused, as it is no request
			}
			t.Run(listener.name+": "+row.name, func(t *testing.T) {
				var count atomic.Int32
				o := listener.options
				o.MaxHeader = 8 << 10
				o.Refused = func() { count.Add(1) }
				handled := make(chan struct{}, 1)
				o.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					handled <- struct{}{}
					if r.URL.Path == "/panic" {
						panic(http.ErrAbortHandler)
					}
					_, _ = io.WriteString(w, "ok")
				})
				s := start(t, o)
				dial := listener.dial
				if dial == nil {
					dial = func(address string) (net.Conn, error) { return net.Dial("tcp", address) }
				}
				conn, err := dial(s.Addr())
				if err != nil {
					t.Fatal(err)
				}
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
				_, _ = io.WriteString(conn, row.text)
				if row.want == 0 && strings.HasPrefix(row.text, "GET") {
					<-handled
				}
				if row.name == "a request" {
					answer(t, bufio.NewReader(conn))
				}
				if row.want == 0 || row.name == "half a header" {
					_ = conn.Close()
				} else {
					_, _ = io.Copy(io.Discard, conn)
				}
				until(t, "the count", func() bool { return count.Load() >= row.want })
				_ = conn.Close()
				if err := s.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				if got := count.Load(); got != row.want {
					t.Errorf("%d are counted, want %d", got, row.want)
				}
			})
		}
	}
}

// Garbage on a kept connection is counted as well, and its regular end isn't.
func TestRefusedRequestsOnAKeptConnection(t *testing.T) {
	for _, o := range []Options{{Watches: true}, {}, {Watches: true, H2C: true}} {
		for _, row := range []struct {
			text string
			want int32
		}{{"garbage\r\n\r\n", 1}, {"", 0}, {"GET / HTT", 1}} {
			var count atomic.Int32
			o.Refused = func() { count.Add(1) }
			o.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
			s := start(t, o)
			conn := dial(t, s)
			in := bufio.NewReader(conn)
			for _, text := range []string{plainGet, upload + "body", plainGet} {
				send(t, conn, text)
				answer(t, in)
			}
			send(t, conn, row.text)
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, in)
			until(t, "the count", func() bool { return count.Load() >= row.want })
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if got := count.Load(); got != row.want {
				t.Errorf("%q: %d are counted, want %d", row.text, got, row.want)
			}
		}
	}
}

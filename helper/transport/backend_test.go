package transport_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/helper/transport"
)

// script is a backend that answers the requests on each of its connections by a
// script, byte for byte.
type script struct {
	net.Listener
	mu       sync.Mutex
	requests []seen
}

// seen is a request as it came: its head and body, and on which connection.
type seen struct {
	conn int
	text string
}

// plays starts a script. respond gets the number of the connection and of the
// request on it, from 1; it says whether the connection stays open.
func plays(t testing.TB, respond func(conn, request int, w net.Conn) bool) *script {
	return playsAt(t, "tcp", "127.0.0.1:0", respond)
}

// playsLocally starts a script behind a unix socket, which the options have: a fuzzer's
// many connections would leave no ports.
func playsLocally(t testing.TB, respond func(conn, request int, w net.Conn) bool) (*script, transport.Options) {
	socket := filepath.Join(t.TempDir(), "s")
	return playsAt(t, "unix", socket, respond), transport.Options{MaxIdle: 4, Socket: socket}
}

const localURL = "http://backend.test"

func playsAt(t testing.TB, network, address string, respond func(conn, request int, w net.Conn) bool) *script {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{Listener: l}
	serves(t, l, func(number int, conn net.Conn) {
		in := bufio.NewReader(conn)
		for request := 1; ; request++ {
			text, err := readRequest(in)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.requests = append(s.requests, seen{number, text})
			s.mu.Unlock()
			if !respond(number, request, conn) {
				return
			}
		}
	})
	return s
}

// serves gives each connection of l, which are numbered from 1, to serve, and ends l with
// the test.
func serves(t testing.TB, l net.Listener, serve func(number int, conn net.Conn)) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for number := 1; ; number++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				serve(number, conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
}

// readRequest returns a request as it came, its body included.
func readRequest(in *bufio.Reader) (string, error) {
	var text strings.Builder
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(oneByte{in}, &text)))
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, r.Body)
	return text.String(), err
}

// oneByte keeps a bufio.Reader above it from reading past a request.
type oneByte struct{ io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(1, len(p))]) }

// says answers every request with text.
func says(text string) func(int, int, net.Conn) bool {
	return func(_, _ int, w net.Conn) bool {
		_, err := io.WriteString(w, text)
		return err == nil
	}
}

// saysAndCloses answers one request with text.
func saysAndCloses(text string) func(int, int, net.Conn) bool {
	return func(_, _ int, w net.Conn) bool {
		_, _ = io.WriteString(w, text)
		return false
	}
}

func (s *script) URL() string { return "http://" + s.Addr().String() }

// seen returns the requests so far.
func (s *script) seen() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.requests...)
}

// forget returns the requests since it was last called.
func (s *script) forget() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// connections is how many connections had a request.
func (s *script) connections() int {
	last := 0
	for _, r := range s.seen() {
		last = max(last, r.conn)
	}
	return last
}

// lane makes the lane to a URL, whose connections end with the test.
func lane(t testing.TB, o transport.Options, to string) *transport.Lane {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := transport.NewLane(o, target)
	t.Cleanup(l.CloseIdleConnections)
	return l
}

// send makes a request and reads the answer to its end.
func send(t testing.TB, rt http.RoundTripper, method, url string, headers ...string) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := rt.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// ok is an answer after which the connection stays.
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

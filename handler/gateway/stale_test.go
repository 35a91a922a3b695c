package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// closesIdle is a backend that answers the first request on a connection and
// closes it when it reads the next one: what a gateway sees that uses a kept-alive
// connection at the moment when the backend gives it up.
type closesIdle struct {
	net.Listener
	hold chan struct{} // the first answer on a connection waits until it is closed
	mu   sync.Mutex
	seen []string // methods that arrived, also in vain
}

func (b *closesIdle) arrived() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

func newClosesIdle(t *testing.T) *closesIdle {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &closesIdle{Listener: listener, hold: make(chan struct{})}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for first := true; ; first = false {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					b.mu.Lock()
					b.seen = append(b.seen, r.Method)
					b.mu.Unlock()
					if !first {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					<-b.hold
					answer := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
					if r.Method != http.MethodHead {
						answer += "ok"
					}
					_, _ = io.WriteString(conn, answer)
				}
			})
		}
	})
	t.Cleanup(func() { listener.Close(); group.Wait() })
	return b
}

// No idempotent request is lost to a connection that the backend was closing, also
// without retries; and no other is sent twice.
func TestAStaleConnectionCostsNoIdempotentRequest(t *testing.T) {
	backend := newClosesIdle(t)
	close(backend.hold)
	s := start(t, backend.Addr().String(), `
upstreams: {app: {url: "http://BACKEND", retry: {attempts: 1}, breaker: {failures: 1, open_for: 1h}, route: {path: /, auth: none}}}
`)
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE", "PUT"} { // the last one's connection is the POST's
		for range 3 {
			body := ""
			if method == "PUT" {
				body = strings.Repeat("x", 1000)
			}
			if got := s.do(method, "/", body); got.StatusCode != 200 {
				t.Errorf("%s is answered %d %s", method, got.StatusCode, got.body)
			}
		}
	}
	if s.counts.get("transition app 2") != 0 || s.counts.get("retried app reset") != 0 {
		t.Errorf("the backend was blamed: %v", s.counts)
	}
	backend.mu.Lock()
	before := len(backend.seen)
	backend.mu.Unlock()
	if got := s.do("POST", "/", "once"); got.StatusCode != 502 || got.code() != "upstream_reset" {
		t.Errorf("POST is answered %d %s", got.StatusCode, got.body)
	}
	backend.mu.Lock()
	defer backend.mu.Unlock()
	if sent := backend.seen[before:]; len(sent) != 1 {
		t.Errorf("POST arrived as %v", sent)
	}
}

// Where many kept-alive connections are stale, a request arrives twice at most, and
// once when it mustn't be repeated, whatever the client says about it.
func TestManyStaleConnectionsCostOneMoreAttempt(t *testing.T) {
	for _, row := range []struct {
		name, method, body string
		headers            []string
		most               int
	}{
		{"GET", "GET", "", nil, 2},
		{"GET with a body", "GET", "x", nil, 2},
		{"HEAD", "HEAD", "", nil, 2},
		{"GET with an expectation", "GET", "", []string{"Expect: 100-continue"}, 2},
		{"POST", "POST", "x", nil, 1},
		{"POST that says it is idempotent", "POST", "x", []string{"Idempotency-Key: 1"}, 1},
		{"the same without a body", "POST", "", []string{"Idempotency-Key: 1"}, 1},
		{"PATCH that says so otherwise", "PATCH", "x", []string{"X-Idempotency-Key: 1"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			const connections = 8
			backend := newClosesIdle(t)
			s := start(t, backend.Addr().String(), `
upstreams: {app: {url: "http://BACKEND", retry: {attempts: 1}, eject: {failures: 0}, route: {path: /, auth: none}}}
`)
			var clients sync.WaitGroup
			for range connections {
				clients.Go(func() {
					if row.body != "" { // requests with a body have connections of their own
						s.do("PUT", "/", "x")
						return
					}
					s.get("/")
				})
			}
			until(t, "all connections are in use", func() bool { return backend.arrived() == connections })
			close(backend.hold)
			clients.Wait()
			got := s.do(row.method, "/", row.body, row.headers...)
			if n := backend.arrived() - connections; n > row.most {
				t.Errorf("it arrived %d times", n)
			}
			if want := map[int]int{1: 502, 2: 200}[row.most]; got.StatusCode != want {
				t.Errorf("it is answered %d %s", got.StatusCode, got.body)
			}
		})
	}
}

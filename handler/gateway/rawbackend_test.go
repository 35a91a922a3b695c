package gateway_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// rawBackend answers each connection with what respond makes of the request's
// head, byte for byte as it came. It records every head.
type rawBackend struct {
	net.Listener
	mu    sync.Mutex
	heads []string
}

func newRawBackend(t *testing.T, respond func(head string, conn net.Conn, in *bufio.Reader)) *rawBackend {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveRaw(t, l, respond)
}

func serveRaw(t *testing.T, l net.Listener, respond func(head string, conn net.Conn, in *bufio.Reader)) *rawBackend {
	t.Helper()
	b := &rawBackend{Listener: l}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				var head strings.Builder
				for {
					line, err := in.ReadString('\n')
					head.WriteString(line)
					if err != nil {
						return
					}
					if line == "\r\n" {
						break
					}
				}
				b.mu.Lock()
				b.heads = append(b.heads, head.String())
				b.mu.Unlock()
				respond(head.String(), conn, in)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			wg.Wait()
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the backend still serves: a failed test has left it waiting")
		}
	})
	return b
}

// seen returns the heads of the requests so far.
func (b *rawBackend) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.heads...)
}

func (b *rawBackend) last(t *testing.T) string {
	t.Helper()
	heads := b.seen()
	if len(heads) == 0 {
		t.Fatal("the backend saw no request")
	}
	return heads[len(heads)-1]
}

// says answers every request with the same text.
func says(text string) func(string, net.Conn, *bufio.Reader) {
	return func(_ string, conn net.Conn, _ *bufio.Reader) { _, _ = io.WriteString(conn, text) }
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

// headerLines returns the lines of a head whose name is name.
func headerLines(head, name string) []string {
	var found []string
	for line := range strings.Lines(head) {
		if n, v, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok && strings.EqualFold(n, name) {
			found = append(found, strings.TrimSpace(v))
		}
	}
	return found
}

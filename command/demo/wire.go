package demo

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxRecorded bounds what is kept of a connection: a request header that net/http accepts fits.
const maxRecorded = http.DefaultMaxHeaderBytes + 8<<10

// Serve answers the connections of l until ctx ends. The handler's requests know their header lines as they came: net/http
// keeps neither their order nor their spelling, which are exactly what one wants to see behind a gateway.
func Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           recorded(handler),
		ReadHeaderTimeout: 10 * time.Second,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, recorderKey{}, conn)
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // whoever waits for an answer has ended before
	defer stop()
	if err := server.Serve(recordingListener{l}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type recordingListener struct{ net.Listener }

func (l recordingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &recorder{Conn: conn}, nil
}

type recorderKey struct{}

// recorder keeps what was read since the last request ended.
type recorder struct {
	net.Conn
	mu   sync.Mutex
	read []byte
}

func (c *recorder) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = append(c.read, p[:min(n, maxRecorded-len(c.read))]...)
	return n, err
}

func (c *recorder) head() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	head, _, _ := bytes.Cut(c.read, []byte("\r\n\r\n"))
	return string(head)
}

func (c *recorder) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = nil
}

// recorded lets the next request of a connection start with an empty record. That holds because no caller here sends it
// before the answer has ended (pipelining, RFC 9112 section 9.3.2), and the answer ends after the handler.
func recorded(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		if conn, ok := r.Context().Value(recorderKey{}).(*recorder); ok {
			conn.forget()
		}
	})
}

// headerLines are the header lines of a request that Serve got; there are none for others.
func headerLines(r *http.Request) []string {
	conn, ok := r.Context().Value(recorderKey{}).(*recorder)
	if !ok {
		return nil
	}
	return strings.Split(conn.head(), "\r\n")[1:] // the first is the request line
}

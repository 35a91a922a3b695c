package gateway_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

const stagesConfig = `
auth:
  providers:
    p: {issuer: test, algorithms: [HS256], secret: SECRET}
upstreams:
  app: {url: "http://BACKEND", limit: {rate: 100/s, burst: 100}}
routes:
  - {path: /, upstream: app, scopes: [], limit: {rate: 100/s, burst: 100, per: client_ip},
     cors: {allowed_origins: ["https://app.test"], allowed_methods: [GET]}}
  - {path: /always, upstream: app, auth: none, flush: always}
`

// An event reaches the client while the stream goes on, through every stage.
func TestEventsComeAtOnce(t *testing.T) {
	for _, row := range []struct{ name, path, header string }{
		{"server-sent events", "/", "Content-Type: text/event-stream; charset=utf-8\r\nContent-Length: 8"},
		{"an unknown length", "/", "Content-Type: text/plain"},
		{"a known length with flush: always", "/always", "Content-Type: text/plain\r\nContent-Length: 8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			more := make(chan string)
			backend := newRawBackend(t, func(_ string, conn net.Conn, _ *bufio.Reader) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n"+row.header+"\r\n\r\n")
				for piece := range more {
					_, _ = io.WriteString(conn, piece)
				}
			})
			s := start(t, backend.Addr().String(), stagesConfig)
			r := newRequest(t, "GET", s.URL+row.path, nil)
			name, value, _ := strings.Cut(bearer(t, nil), ": ")
			r.Header.Set(name, value)
			r.Header.Set("Origin", "https://app.test")
			res, err := http.DefaultTransport.RoundTrip(r) // the header comes before any event
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			for _, piece := range []string{"one\n", "two\n"} {
				more <- piece
				got := make([]byte, len(piece))
				if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != piece {
					t.Fatalf("got %q, %v", got, err)
				}
			}
			close(more)
			if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
				t.Errorf("the end is %q, %v", rest, err)
			}
			logged(t, s.only(), map[string]any{"status": 200, "bytes_out": 8, "code": ""})
		})
	}
}

// 100 MB go each way, 50 in one piece and 50 in chunks, without being kept: what is allocated on the way, by the
// test's own ends too, is a small part of it.
func TestLargeBodiesTakeConstantMemory(t *testing.T) {
	const size = 50 << 20
	block := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hash := sha256.New()
		n, err := io.Copy(hash, r.Body)
		if err != nil {
			t.Errorf("the backend reads: %v", err)
		}
		w.Header().Set("X-Got", fmt.Sprintf("%d %x", n, hash.Sum(nil)))
		w.Header().Set("Content-Length", fmt.Sprint(size))
		for range size / len(block) {
			if _, err := w.Write(block); err != nil {
				t.Errorf("the backend writes: %v", err)
				return
			}
		}
	}))
	defer backend.Close()
	s := start(t, backend.Listener.Addr().String(), strings.Replace(openConfig, "auth: none", "auth: none, max_body_size: 0", 1))
	for _, length := range []int64{size, -1} { // -1: chunked
		want := sha256.New()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body := io.TeeReader(io.LimitReader(repeating(block), size), want)
		r := newRequest(t, "POST", s.URL+"/", body)
		r.ContentLength = length
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		got := sha256.New()
		n, err := io.Copy(got, res.Body)
		res.Body.Close()
		runtime.ReadMemStats(&after)
		if sum := fmt.Sprintf("%x", got.Sum(nil)); err != nil || n != size || sum != fmt.Sprintf("%x", want.Sum(nil)) {
			t.Errorf("down came %d bytes, %s, %v", n, sum, err)
		}
		if x := res.Header.Get("X-Got"); x != fmt.Sprintf("%d %x", size, want.Sum(nil)) {
			t.Errorf("up went %s", x)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > size/20 {
			t.Errorf("%d bytes were allocated for %d on the way", grown, 2*size)
		}
	}
	for _, line := range s.lines() {
		logged(t, line, map[string]any{"bytes_in": size, "bytes_out": size, "status": 200, "code": ""})
	}
}

// repeating reads as its bytes over and over.
type repeating []byte

func (r repeating) Read(p []byte) (int, error) { return copy(p, r), nil }

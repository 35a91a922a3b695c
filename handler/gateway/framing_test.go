package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

const framingConfig = `
server: {timeouts: {write_idle: 200ms}}
upstreams:
  app: {url: "http://BACKEND", breaker: {failures: 1}}
routes:
  - {path: /, upstream: app, auth: none}
  - {path: /small, upstream: app, auth: none, max_body_size: 10}
  - {path: /closed, upstream: app, auth: none, methods: [GET]}
`

// answersAfterBody reads a chunked or a counted body before it answers.
func answersAfterBody(head string, conn net.Conn, in *bufio.Reader) {
	if lengths := headerLines(head, "Content-Length"); len(lengths) > 0 {
		var n int64
		_, _ = fmt.Sscan(lengths[0], &n)
		if _, err := io.CopyN(io.Discard, in, n); err != nil {
			return
		}
	} else if len(headerLines(head, "Transfer-Encoding")) > 0 {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if line == "0\r\n" {
				_, _ = readHead(in)
				break
			}
		}
	}
	_, _ = io.WriteString(conn, okAnswer)
}

// TestBrokenRequestsAreTheClientsFault sends each request ten times to an
// upstream whose breaker opens at the first failure.
func TestBrokenRequestsAreTheClientsFault(t *testing.T) {
	const chunked = "Transfer-Encoding: chunked\r\n\r\n"
	for _, row := range []struct {
		name, rest string
		status     int
		logged     bool // whether it got as far as the gateway's handler
	}{
		{"a chunk size that is no number", chunked + "zz\r\nab\r\n0\r\n\r\n", 400, true},
		{"a bare LF behind a chunk size", chunked + "2\nab\r\n0\r\n\r\n", 400, true},
		{"a bare LF behind a chunk extension", chunked + "2;a\nab\r\n0\r\n\r\n", 400, true},
		{"a lone CR in a chunk extension", chunked + "2;a\rb\r\nab\r\n0\r\n\r\n", 400, true},
		{"a chunk extension of 1 MB", chunked + "2;" + strings.Repeat("a", 1<<20) + "\r\nab\r\n0\r\n\r\n", 400, true},
		{"a chunk longer than its size", chunked + "2\r\nabc\r\n0\r\n\r\n", 400, true},
		{"a body that ends with an empty line", chunked + "2\r\nab\r\n\r\n", 400, true},
		{"an overflowing chunk size", chunked + "fffffffffffffffff\r\nab\r\n0\r\n\r\n", 400, true},
		{"two lengths that differ", "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, false},
		{"a length with a sign", "Content-Length: +1\r\n\r\na", 400, false},
		{"a hexadecimal length", "Content-Length: 0x1\r\n\r\na", 400, false},
		{"a list of lengths", "Content-Length: 1,1\r\n\r\na", 400, false},
		{"a negative length", "Content-Length: -1\r\n\r\na", 400, false},
		{"two transfer encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 501, false},
		{"an unknown transfer encoding", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, false},
		{"a blank before the colon", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, false},
		{"a control character in a value", "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400, false},
		{"a bare CR in a header", "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, false},
		{"a length and chunks", "Content-Length: 12\r\n" + chunked + "2\r\nab\r\n0\r\n\r\n", 400, true},
		{"chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n2\r\nab\r\n0\r\n\r\n", 400, true},
		{"a trailer that frames the body", "Trailer: Content-Length\r\n" + chunked + "0\r\nContent-Length: 1\r\n\r\n", 400, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, answersAfterBody)
			s := start(t, backend.Addr().String(), framingConfig)
			for range 10 {
				text := s.raw("POST / HTTP/1.1\r\nHost: gw.test\r\n" + row.rest)
				if text != "reset" && !strings.HasPrefix(text, fmt.Sprintf("HTTP/1.1 %d ", row.status)) {
					t.Fatalf("got %.300q, want %d", text, row.status)
				}
				if text != "reset" && !strings.Contains(text, "\r\nConnection: close\r\n") {
					t.Errorf("the connection isn't closed: %.300q", text)
				}
			}
			if got := s.get("/"); got.StatusCode != 200 {
				t.Errorf("the breaker judged the client: %d %s", got.StatusCode, got.code())
			}
			until(t, "all are counted", func() bool {
				return s.counts.get("rejected _none bad_request")+s.counts.get("rejected / bad_request") == 10
			})
			lines := s.lines()
			if row.logged != (len(lines) == 11) {
				t.Errorf("%d log lines", len(lines))
			}
			if row.logged {
				logged(t, lines[0], map[string]any{"status": 400, "code": "bad_request"})
			}
		})
	}
}

func TestTheSameLengthTwiceReachesTheBackendOnce(t *testing.T) {
	backend := newRawBackend(t, answersAfterBody)
	s := start(t, backend.Addr().String(), framingConfig)
	s.raw("POST / HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab")
	if lengths := strings.Join(headerLines(backend.last(t), "Content-Length"), "|"); lengths != "2" {
		t.Errorf("the backend got Content-Length %q", lengths)
	}
}

// What stands behind a request whose end another proxy may see elsewhere is no request.
func TestNothingIsServedBehindADoubtfulBody(t *testing.T) {
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: gw.test\r\n\r\n"
	const both = "POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	for _, row := range []struct{ name, text string }{
		{"a length and chunks", "POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"behind another request", "GET / HTTP/1.1\r\nHost: gw.test\r\n\r\nPOST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"with another fault", "POST / HTTP/1.1\r\nHost: gw.test\r\nUpgrade: \x80\r\n" + both[len("POST / HTTP/1.1\r\nHost: gw.test\r\n"):] + smuggled},
		{"HTTP/1.0 with chunks", "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled},
		{"HTTP/1.0 with a length and chunks", "POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n30\r\n" + smuggled},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, answersAfterBody)
			s := start(t, backend.Addr().String(), framingConfig)
			if text := s.raw(row.text); !strings.Contains(text, "\r\nConnection: close\r\n") {
				t.Errorf("the connection isn't closed: %q", text)
			}
			for _, head := range backend.seen() {
				if strings.Contains(head, "smuggled") {
					t.Errorf("the backend got %q", head)
				}
			}
		})
	}
}

// Nor when the header comes in pieces, behind a request that was answered.
func TestNothingIsServedBehindADoubtfulBodyInPieces(t *testing.T) {
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: gw.test\r\n\r\n"
	const both = "POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	for _, row := range []struct{ name, first, second string }{
		{"at the end of a line", "GET / HTTP/1.1\r\nHost: gw.test\r\n\r\nPOST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 100\r\n",
			"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"behind CRs and LFs", "POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 4\r\n\r\nbody", "\r\r\n\n" + both + smuggled},
		{"behind a body that nobody reads", "GET / HTTP/1.1\r\nHost: gw.test\r\n\r\nPOST /closed HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 20\r\n\r\n", "XXXXXXXXXXXXXXXX\r\n\r\n" + both + smuggled},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend := newRawBackend(t, answersAfterBody)
			s := start(t, backend.Addr().String(), framingConfig)
			c := s.dial()
			c.send(row.first)
			c.answer("GET")
			c.send(row.second)
			_, _ = io.Copy(io.Discard, c)
			for _, line := range s.lines() {
				if line["path"] == "/smuggled" {
					t.Errorf("served: %v", line)
				}
			}
		})
	}
}

// A client that sends its bodies in chunks, one request after the other, keeps its connection.
func TestChunksKeepTheConnection(t *testing.T) {
	backend := newRawBackend(t, answersAfterBody)
	s := start(t, backend.Addr().String(), framingConfig)
	c := s.dial()
	for range 5 {
		c.send("POST / HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
		if got := c.answer("POST"); got.StatusCode != 200 || got.Close {
			t.Fatalf("got %d, closes: %v", got.StatusCode, got.Close)
		}
	}
}

func TestBodyThatBreaksOffIsNeutral(t *testing.T) {
	backend := newRawBackend(t, answersAfterBody)
	s := start(t, backend.Addr().String(), framingConfig)
	for _, framing := range []string{"Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n64\r\nhalf"} {
		c := s.dial()
		c.send("POST / HTTP/1.1\r\nHost: gw.test\r\n" + framing)
		_ = c.Conn.(*net.TCPConn).CloseWrite()
		if got := c.answer("POST"); got.StatusCode != 400 || got.code() != "bad_request" {
			t.Errorf("got %d %s", got.StatusCode, got.body)
		}
	}
	for _, line := range s.lines() {
		logged(t, line, map[string]any{"status": 400, "code": "bad_request", "bytes_in": 4})
	}
	if got := s.get("/"); got.StatusCode != 200 {
		t.Errorf("the breaker judged the client: %d", got.StatusCode)
	}
}

func TestBodyOverTheLimit(t *testing.T) {
	backend := newRawBackend(t, answersAfterBody)
	s := start(t, backend.Addr().String(), framingConfig)
	for _, row := range []struct {
		name, text string
		status     int
	}{
		{"declared", "Content-Length: 11\r\n\r\n12345678901", 413},
		{"declared, and asked for permission", "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n", 413},
		{"found while streaming", "Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n6\r\n123456\r\n", 413},
		{"exactly at the limit", "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n5\r\n12345\r\n0\r\n\r\n", 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := s.raw("POST /small HTTP/1.1\r\nHost: gw.test\r\n" + row.text)
			if !strings.HasPrefix(text, fmt.Sprintf("HTTP/1.1 %d ", row.status)) {
				t.Fatalf("got %q", text)
			}
			if row.status == 413 && (!strings.Contains(text, `"code":"body_too_large"`) || !strings.Contains(text, "\r\nConnection: close\r\n")) {
				t.Errorf("got %q", text)
			}
		})
	}
	if got := s.get("/"); got.StatusCode != 200 {
		t.Errorf("the breaker judged the client: %d", got.StatusCode)
	}
}

func TestTooLargeHeaderIs431(t *testing.T) {
	backend := newRawBackend(t, says(okAnswer))
	s := start(t, backend.Addr().String(), openConfig)
	for _, row := range []struct {
		size   int
		status string
	}{{12 << 10, "200"}, {40 << 10, "431"}, {1 << 20, "431"}} {
		text := s.raw(request("GET /", "Authorization: Bearer "+strings.Repeat("a", row.size)))
		if text != "reset" && !strings.HasPrefix(text, "HTTP/1.1 "+row.status+" ") {
			t.Errorf("%d bytes: got %.100q, want %s", row.size, text, row.status)
		}
	}
}

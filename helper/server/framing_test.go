package server

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

const (
	chunkedPost = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	bothPost    = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
	noChunk     = "0\r\n\r\n"
)

// A header says the same in whichever pieces it comes.
func TestFramingInPieces(t *testing.T) {
	for _, row := range []struct {
		header string
		want   Framing
	}{
		{plainGet, OneFraming},
		{upload, OneFraming},
		{chunkedPost, OneFraming},
		{bothPost + "behind it", TwoFramings},
		{"POST / HTTP/1.1\ntransfer-ENCODING:chunked\nHost: x\ncontent-LENGTH:1\n\n", TwoFramings},
		{"\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: x\r\n\r\n", TwoFramings},
		{"POST / HTTP/1.1\r\nContent-Length-X: 1\r\nTransfer-Encoding: chunked\r\n\r\n", OneFraming},
		{"POST / HTTP/1.1\r\nX-Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", OneFraming},
		{"POST / HTTP/1.1\r\nX: Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", OneFraming},
		{"POST / HTTP/1.1\r\nX: 1\r\n Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", OneFraming},
		{chunkedPost + "Content-Length: 4\r\n\r\n", OneFraming},
		{"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", UnknownFraming},
	} {
		for i := range len(row.header) {
			for j := i; j < len(row.header); j++ {
				f := framing{known: true}
				f.see([]byte(row.header[:i]))
				f.see([]byte(row.header[i:j]))
				f.see([]byte(row.header[j:]))
				if got := f.is(); got != row.want {
					t.Fatalf("%q in pieces up to %d and %d: got %d, want %d", row.header, i, j, got, row.want)
				}
			}
		}
	}
}

// Each request on a connection has its own framing, or none is known: never that of another.
func TestFramingOfEachRequest(t *testing.T) {
	const one, two, unknown = "1", "2", "0"
	for _, row := range []struct {
		name    string
		packets []string // each is sent when as many answers have come as packets before had requests
		want    string   // the framings, in order
	}{
		{"one after the other", []string{plainGet, chunkedPost + noChunk, bothPost + noChunk}, one + one + two},
		{"behind chunks", []string{chunkedPost + "1\r\na\r\n" + noChunk, chunkedPost + noChunk, bothPost + noChunk}, one + one + two},
		{"behind a counted body", []string{upload + "body", bothPost + noChunk}, one + two},
		{"behind an empty line too many", []string{upload + "body", "\r\n" + bothPost + noChunk}, one + two},
		{"two at once", []string{plainGet + bothPost + noChunk, bothPost + noChunk}, one + unknown + two},
		{"two at once, the second with what looks like a header in its body", []string{plainGet + chunkedPost + "40\r\n" + (chunkedPost + strings.Repeat(".", 64))[:64] + "\r\n" + noChunk,
			bothPost + noChunk}, one + unknown + two},
		{"a body that nobody reads", []string{"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("\r\n", 50), bothPost + noChunk}, one + two},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := make(chan string, 10)
			s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn := ConnOf(r.Context())
				conn.Watch(func() {})
				defer conn.Unwatch()
				got <- string('0' + rune(conn.Framing()))
				if r.URL.Path != "/unread" {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				_, _ = io.WriteString(w, "ok")
			})})
			conn := dial(t, s)
			in := bufio.NewReader(conn)
			for _, packet := range row.packets {
				send(t, conn, packet)
				for range strings.Count(packet, " / HTTP") + strings.Count(packet, "/unread") + strings.Count(packet, "/read") - strings.Count(packet, "40\r\n") {
					answer(t, in)
				}
			}
			var all string
			for len(got) > 0 {
				all += <-got
			}
			if all != row.want {
				t.Errorf("got %s, want %s", all, row.want)
			}
		})
	}
}

// A header that comes half with the request before and half later isn't known, whatever the later half looks like.
func TestFramingOfAHeaderInTwoPackets(t *testing.T) {
	got := make(chan Framing, 2)
	s := start(t, Options{Watches: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := ConnOf(r.Context())
		conn.Watch(func() {})
		defer conn.Unwatch()
		got <- conn.Framing()
		_, _ = io.WriteString(w, "ok")
	})})
	conn := dial(t, s)
	in := bufio.NewReader(conn)
	send(t, conn, plainGet+"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nX: ")
	answer(t, in)
	send(t, conn, "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"+noChunk)
	answer(t, in)
	if a, b := <-got, <-got; a != OneFraming || b != UnknownFraming {
		t.Errorf("got %d and %d", a, b)
	}
}

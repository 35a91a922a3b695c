package main

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// backends are one that answers and one that seldom does.
func backends() (good, bad net.Listener, err error) {
	if good, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, nil, err
	}
	if bad, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		_ = good.Close()
		return nil, nil, err
	}
	body := strings.Repeat("x", 512)
	go http.Serve(good, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })) //nolint:errcheck,gosec // ends with the listener
	go accept(bad)
	return good, bad, nil
}

func accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go misbehave(conn.(*net.TCPConn))
		}
	}
}

// misbehave serves a connection until its random fault ends it.
func misbehave(conn *net.TCPConn) {
	defer conn.Close() //nolint:errcheck // it is meant to end anyhow
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	in := bufio.NewReader(conn)
	for {
		if rand.IntN(20) == 0 {
			return // before the request was read, or while nobody uses the connection
		}
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if rand.IntN(4) > 0 {
			_, _ = io.Copy(io.Discard, r.Body) // else the answer comes early
		}
		if !answer(conn) {
			return
		}
	}
}

// answer gives one of the answers that a backend can give, and says whether the connection goes on.
func answer(conn *net.TCPConn) bool {
	say := func(text string) bool { _, err := io.WriteString(conn, text); return err == nil }
	switch rand.IntN(12) {
	case 0:
		return say("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
	case 1: // reset
		_ = conn.SetLinger(0)
		return false
	case 2: // cut in the header
		say("HTTP/1.1 200 OK\r\nContent-Le")
		return false
	case 3: // cut in the body
		say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		return false
	case 4:
		say("\x00\x01garbage\r\n\r\n")
		return false
	case 5: // hang
		time.Sleep(400 * time.Millisecond)
		return false
	case 6: // drip
		for _, c := range "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" {
			time.Sleep(5 * time.Millisecond)
			if !say(string(c)) {
				return false
			}
		}
		return true
	case 7: // two lengths
		say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok")
		return false
	case 8: // chunks that break off
		say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
		return false
	case 9: // more than the answer
		say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more")
		return true
	case 10:
		return say("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	default:
		return say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
}

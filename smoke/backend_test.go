package smoke

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// backend is a service that reads its requests as bytes.
type backend struct {
	address string
	heads   chan string   // each request's head as it came
	release chan struct{} // lets a request whose path has /held in it be answered
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	b := &backend{listener.Addr().String(), make(chan string, 1000), make(chan struct{})}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go b.answer(conn)
		}
	}()
	return b
}

// answer answers one request and closes: every request then has its head recorded in order.
func (b *backend) answer(conn net.Conn) {
	defer conn.Close()
	head, err := readHead(bufio.NewReader(conn))
	if err != nil {
		return // a connection that was never used
	}
	b.heads <- head
	if strings.Contains(head, "/held") {
		<-b.release
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n")
}

func readHead(r *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", err
		}
		head.WriteString(line)
		if line == "\r\n" {
			return head.String(), nil
		}
	}
}

// send sends the lines of a request head as they are and reads the answer.
func send(t *testing.T, address string, lines ...string) *http.Response {
	t.Helper()
	conn := dial(t, address)
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return answerOf(t, conn)
}

// answerOf reads an answer whole.
func answerOf(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(strings.NewReader(string(body)))
	return answer
}

func bodyOf(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

package server

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// told is what a request was found to have.
type told struct {
	id      string
	framing Framing
}

// Whatever a client sends in whichever pieces, the framing of each request is right or unknown.
func TestFramingIsNeverWrong(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		got := make(chan told, 100)
		s := start(t, Options{Watches: true, H2C: h2c, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn := ConnOf(r.Context())
			conn.Watch(func() {})
			defer conn.Unwatch()
			got <- told{r.Header.Get("X-Id"), conn.Framing()}
			switch r.URL.Path {
			case "/unread":
			case "/half":
				_, _ = io.ReadFull(r.Body, make([]byte, 3))
			default:
				_, _ = io.Copy(io.Discard, r.Body)
			}
		})})
		known, both := 0, 0
		for round := range 150 {
			random := rand.New(rand.NewPCG(uint64(round), 1))
			text, want := conversation(random)
			conn := dial(t, s)
			go func() {
				for len(text) > 0 {
					n := min(len(text), 1+random.IntN([]int{3, 100, 1000, 5000}[random.IntN(4)]))
					if _, err := conn.Write(text[:n]); err != nil {
						return // the server has closed it
					}
					text = text[n:]
				}
				_ = conn.(interface{ CloseWrite() error }).CloseWrite()
			}()
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
			for len(got) > 0 {
				one := <-got
				switch {
				case one.framing == UnknownFraming:
					continue
				case one.framing != want[one.id]:
					t.Errorf("round %d, %s: got %d, want %d", round, one.id, one.framing, want[one.id])
				case one.framing == TwoFramings:
					both++
				}
				known++
			}
		}
		if known < 50 || both < 10 {
			t.Errorf("only %d are known, %d of them with both", known, both)
		}
	}
}

// conversation is some requests in a row, and the framing of each.
func conversation(random *rand.Rand) (text []byte, want map[string]Framing) {
	var all bytes.Buffer
	want = map[string]Framing{}
	post := false
	for i := range 2 + random.IntN(6) {
		if post { // net/http skips these
			all.WriteString([]string{"", "", "\r\n", "\r\r\n\n", "\n\n", "\r\r\r\r", "\n"}[random.IntN(7)])
		}
		id := fmt.Sprint(i)
		head := " HTTP/1.1\r\nHost: x\r\nX-Id: " + id + "\r\n"
		if random.IntN(3) == 0 {
			head += "X-Pad: " + strings.Repeat("p", random.IntN(4200)) + "\r\n"
		}
		path := []string{"/", "/unread", "/half"}[random.IntN(3)]
		body := strings.Repeat([]string{"x\r\n\r\n", "\r\n", "X: y\r\n\r\nGET / HTTP/1.1\r\n\r\n", "abc"}[random.IntN(4)], random.IntN(100))
		want[id], post = OneFraming, true
		switch random.IntN(4) {
		case 0:
			post = false
			fmt.Fprintf(&all, "GET %s%s\r\n", path, head)
		case 1:
			fmt.Fprintf(&all, "POST %s%sContent-Length: %d\r\n\r\n%s", path, head, len(body), body)
		default:
			lines := []string{"", "Transfer-Encoding: chunked\r\n"}
			if random.IntN(2) == 0 {
				want[id], lines[0] = TwoFramings, "Content-Length: 7\r\n"
			}
			first := random.IntN(2)
			fmt.Fprintf(&all, "POST %s%s%sX-Between: 1\r\n%s\r\n", path, head, lines[first], lines[1-first])
			if body != "" {
				fmt.Fprintf(&all, "%x\r\n%s\r\n", len(body), body)
			}
			all.WriteString("0\r\n\r\n")
		}
	}
	return all.Bytes(), want
}

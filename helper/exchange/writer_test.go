package exchange_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
)

// serve serves one raw request with handle, behind an exchange, and returns the
// whole answer and the exchange.
func serve(t *testing.T, text string, handle func(*exchange.Exchange, http.ResponseWriter, *http.Request)) (string, *exchange.Exchange) {
	t.Helper()
	done := make(chan *exchange.Exchange, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ex, r := exchange.Begin(w, r, time.Minute)
		defer func() { done <- ex }()
		handle(ex, &ex.Writer, r)
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil {
		t.Errorf("reading the answer: %v", err)
	}
	return string(answer), <-done
}

const get = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// What came behind an upgrade's request in one piece with it belongs to whoever takes the connection over.
func TestNothingBehindAnUpgradeIsLost(t *testing.T) {
	got := make(chan string, 1)
	serve(t, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly bytes", func(_ *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			close(got)
			return
		}
		defer conn.Close()
		buffer := make([]byte, len("early bytes"))
		n, _ := io.ReadFull(conn, buffer)
		got <- string(buffer[:n])
		if rw.Reader.Buffered() > 0 {
			t.Error("it is in the buffer, too")
		}
	})
	if text := <-got; text != "early bytes" {
		t.Errorf("got %q", text)
	}
}

// Each method of http.ResponseController reaches the server through the writer.
func TestResponseControllerReachesTheServer(t *testing.T) {
	for _, row := range []struct {
		name string
		call func(*http.ResponseController) error
	}{
		{"Flush", (*http.ResponseController).Flush},
		{"EnableFullDuplex", (*http.ResponseController).EnableFullDuplex},
		{"SetReadDeadline", func(c *http.ResponseController) error { return c.SetReadDeadline(time.Now().Add(time.Minute)) }},
		{"SetWriteDeadline", func(c *http.ResponseController) error { return c.SetWriteDeadline(time.Now().Add(time.Minute)) }},
		{"Hijack", func(c *http.ResponseController) error {
			conn, _, err := c.Hijack()
			if err == nil {
				err = conn.Close()
			}
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			called := false
			serve(t, get, func(_ *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
				called = true
				if err := row.call(http.NewResponseController(w)); err != nil {
					t.Error(err)
				}
			})
			if !called {
				t.Error("the handler didn't run")
			}
		})
	}
}

// The queue is applied to the final answer, whichever way that begins.
func TestQueueIsAppliedOnce(t *testing.T) {
	for _, row := range []struct {
		name  string
		begin func(*exchange.Exchange, http.ResponseWriter)
	}{
		{"by WriteHeader", func(_ *exchange.Exchange, w http.ResponseWriter) { w.WriteHeader(200) }},
		{"by two WriteHeaders", func(_ *exchange.Exchange, w http.ResponseWriter) { w.WriteHeader(200); w.WriteHeader(500) }},
		{"by Write", func(_ *exchange.Exchange, w http.ResponseWriter) { _, _ = w.Write(nil) }},
		{"by Flush", func(_ *exchange.Exchange, w http.ResponseWriter) { w.(http.Flusher).Flush() }},
		{"after an informational answer", func(_ *exchange.Exchange, w http.ResponseWriter) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(200)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			answer, ex := serve(t, get, func(ex *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
				ex.Clientward.Set("X-Set", "gateway")
				ex.Clientward.Add("Vary", "Origin")
				ex.Clientward.Queue(exchange.Header{Name: "X-Secret", Op: exchange.Remove})
				w.Header().Set("X-Set", "upstream")
				w.Header().Set("Vary", "Accept")
				w.Header().Set("X-Secret", "1")
				row.begin(ex, w)
			})
			final := answer[strings.LastIndex(answer, "HTTP/1.1 "):]
			for _, want := range []string{"HTTP/1.1 200 OK\r\n", "\r\nX-Set: gateway\r\n", "\r\nVary: Accept\r\nVary: Origin\r\n"} {
				if strings.Count(final, want) != 1 {
					t.Errorf("%q isn't once in %q", want, final)
				}
			}
			if strings.Contains(answer, "upstream") || strings.Contains(answer, "X-Secret") {
				t.Errorf("the upstream's headers went out: %q", answer)
			}
			if ex.Status() != 200 {
				t.Errorf("the status is %d", ex.Status())
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	for _, row := range []struct {
		name   string
		handle func(*exchange.Exchange, http.ResponseWriter, *http.Request)
		status int
		body   string
	}{
		{"writes a problem", func(ex *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
			ex.Refuse(w, problem.Problem{Code: problem.NoRoute})
		}, 404, `"code":"no_route"`},
		{"writes nothing into an answer that has begun", func(ex *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "begun")
			ex.Refuse(w, problem.Problem{Code: problem.NoRoute})
		}, 200, "begun"},
		{"writes nothing to a client that left", func(ex *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
			ex.Refuse(w, problem.Problem{Code: problem.ClientClosed})
		}, 499, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			answer, ex := serve(t, get, row.handle)
			if ex.Status() != row.status || ex.Code == "" {
				t.Errorf("status %d, code %s", ex.Status(), ex.Code)
			}
			if _, body, _ := strings.Cut(answer, "\r\n\r\n"); !strings.Contains(body, row.body) || row.body == "" && body != "" {
				t.Errorf("got %q", answer)
			}
		})
	}
}

func TestBytesOfAnAnswer(t *testing.T) {
	write := func(_ *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, strings.NewReader(strings.Repeat("a", 1<<20))) // by way of io.ReaderFrom, if there were one
	}
	for method, want := range map[string]int64{"GET": 1 << 20, "HEAD": 0} {
		if _, ex := serve(t, strings.Replace(get, "GET", method, 1), write); ex.Writer.Bytes() != want {
			t.Errorf("%s: counted %d bytes, want %d", method, ex.Writer.Bytes(), want)
		}
	}
}

func TestInformationalAnswerLosesHopByHopHeaders(t *testing.T) {
	answer, _ := serve(t, get, func(ex *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
		ex.DropCORS = true
		ex.Clientward.Set("X-Request-Id", "1")
		h := w.Header()
		for _, name := range []string{"Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Upgrade", "X-Hop", "X-Request-Id", "Access-Control-Allow-Origin"} {
			h.Set(name, "x")
		}
		h.Set("Connection", "close, x-hop")
		h.Set("Link", "</a.css>")
		w.WriteHeader(http.StatusEarlyHints)
		clear(h)
		w.WriteHeader(http.StatusContinue) // net/http's own business
		w.WriteHeader(http.StatusNoContent)
	})
	interim, final, _ := strings.Cut(answer, "\r\n\r\n")
	if interim != "HTTP/1.1 103 Early Hints\r\nLink: </a.css>" {
		t.Errorf("the informational answer is %q", interim)
	}
	if !strings.HasPrefix(final, "HTTP/1.1 204 No Content\r\n") {
		t.Errorf("the final answer is %q", final)
	}
}

// The deadline that a request left on the connection doesn't cut the next one's
// answer, also when that has no body: it is moved at each header.
func TestWriteDeadlineIsMovedAtTheHeader(t *testing.T) {
	recorder := &deadlines{ResponseWriter: httptest.NewRecorder()}
	for _, status := range []int{http.StatusEarlyHints, http.StatusNoContent} {
		ex, _ := exchange.Begin(recorder, httptest.NewRequest("GET", "/", nil), time.Minute)
		before := len(recorder.moved)
		ex.Writer.WriteHeader(status)
		if len(recorder.moved) != before+1 {
			t.Errorf("%d: the deadline was moved %d times, want once", status, len(recorder.moved)-before)
		}
	}
	ex, _ := exchange.Begin(recorder, httptest.NewRequest("GET", "/", nil), time.Minute)
	before := len(recorder.moved)
	for range 1000 {
		_, _ = ex.Writer.Write([]byte("a"))
	}
	if n := len(recorder.moved) - before; n > 2 {
		t.Errorf("a fast answer moved the deadline %d times", n)
	}
}

type deadlines struct {
	http.ResponseWriter
	moved []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.moved = append(d.moved, t)
	return nil
}

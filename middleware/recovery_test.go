package middleware

import (
	"bufio"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"gatehouse/helper/breaker"
	"gatehouse/helper/exchange"
	"gatehouse/helper/route"
)

// silent counts nothing but the answers that the gateway made.
type silent struct{ codes chan string }

func (silent) Accept()                                                   {}
func (silent) Reject()                                                   {}
func (s silent) Rejected(code string)                                    { s.codes <- code }
func (silent) Observe(string, int, time.Duration, time.Duration, string) {}
func (silent) Shadowed(string)                                           {}
func (silent) QuotaRejected(string)                                      {}
func (silent) BreakerRefused()                                           {}

const traceID = "0af7651916cd43dd8448eb211c80319c"

// chain is a server whose only route has filter as its filter and end as its
// proxy.
type chain struct {
	*httptest.Server
	panics  int
	logs    *observer.ObservedLogs
	breaker *breaker.Breaker
	ended   chan *exchange.Exchange
}

func newChain(t *testing.T, b *breaker.Breaker, filter Stage, end http.HandlerFunc) *chain {
	t.Helper()
	table, err := route.New([]route.Rule{{Name: "/", Path: "/"}})
	if err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.InfoLevel)
	c := &chain{logs: logs, breaker: b, ended: make(chan *exchange.Exchange, 10)}
	handler := Chain(Shared{Table: table, Log: zap.New(core), Panic: func() { c.panics++ }},
		[]Route{{Name: "/", Upstream: "app", Breaker: c.breaker, Filters: []Stage{filter}, Proxy: end, Observer: silent{}}})
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ex, r := exchange.Begin(w, r, time.Minute)
		ex.TraceID = traceID
		ex.Observer = silent{}
		defer func() { c.ended <- ex }()
		handler.ServeHTTP(&ex.Writer, r)
	}))
	c.Config.ErrorLog = log.New(io.Discard, "", 0)
	c.Start()
	t.Cleanup(c.Close)
	return c
}

func (c *chain) get(t *testing.T) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// panicking is a filter that panics with fault after before.
func panicking(fault any, before func(http.ResponseWriter)) Stage {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			before(w)
			panic(fault)
		})
	}
}

func closed() *breaker.Breaker {
	return breaker.New(breaker.Options{Failures: 1, OpenFor: time.Hour, HalfOpenRequests: 1})
}

func nothing(http.ResponseWriter) {}

func TestPanicIs500Once(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault any
		first func(http.ResponseWriter)
	}{
		{"with a text", "oh no", nothing},
		{"with an error", errors.New("oh no"), nothing},
		{"with nil", nil, nothing},
		{"with a value that can't be compared", []string{"oh no"}, nothing},
		{"after headers for another answer were set", "oh no", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "5")
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/html")
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newChain(t, closed(), panicking(row.fault, row.first), nil)
			res, body, err := c.get(t)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != 500 || !strings.Contains(body, `"code":"internal_error"`) || !strings.Contains(body, `"trace_id":"`+traceID+`"`) ||
				res.Header.Get("Content-Type") != "application/problem+json" || res.Header.Get("Content-Encoding") != "" {
				t.Errorf("got %d %v %s", res.StatusCode, res.Header, body)
			}
			if strings.Contains(body, "oh no") || strings.Contains(body, ".go") {
				t.Errorf("the client sees internals: %s", body)
			}
			ex := <-c.ended
			if c.panics != 1 || ex.Status() != 500 || ex.Code != "internal_error" {
				t.Errorf("counted %d, status %d, code %s", c.panics, ex.Status(), ex.Code)
			}
			lines := c.logs.All()
			if len(lines) != 1 || lines[0].Level != zap.ErrorLevel || lines[0].ContextMap()["trace_id"] != traceID ||
				!strings.Contains(lines[0].ContextMap()["stack"].(string), "recovery_test.go") {
				t.Errorf("logged %v", lines)
			}
			if c.breaker.State() != breaker.Closed || ex.Outcome != exchange.NotSent {
				t.Errorf("the breaker is %s, the outcome %d", c.breaker.State(), ex.Outcome)
			}
		})
	}
}

// Half an answer must not look whole: the connection ends.
func TestPanicAfterTheHeaderEndsTheConnection(t *testing.T) {
	for _, length := range []string{"10", ""} {
		c := newChain(t, closed(), panicking("oh no", func(w http.ResponseWriter) {
			if length != "" {
				w.Header().Set("Content-Length", length)
			}
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
		}), nil)
		if res, body, err := c.get(t); err == nil {
			t.Errorf("the client took it for whole: %d %q", res.StatusCode, body)
		}
		if ex := <-c.ended; c.panics != 1 || ex.Code != "internal_error" || ex.Status() != 200 || ex.Writer.Bytes() != 4 {
			t.Errorf("counted %d, status %d, code %s", c.panics, ex.Status(), ex.Code)
		}
	}
}

// http.ErrAbortHandler isn't a fault but the way to end a connection.
func TestAbortGoesOnUp(t *testing.T) {
	c := newChain(t, closed(), panicking(http.ErrAbortHandler, nothing), nil)
	if res, body, err := c.get(t); err == nil {
		t.Errorf("the client got %d %q", res.StatusCode, body)
	}
	if <-c.ended; c.panics != 0 || c.logs.Len() != 0 {
		t.Errorf("counted %d, logged %v", c.panics, c.logs.All())
	}
}

func TestPanicAfterHijack(t *testing.T) {
	c := newChain(t, closed(), panicking("oh no", func(w http.ResponseWriter) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("hijacking: %v", err)
			return
		}
		_, _ = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\nbye")
		_ = buffered.Flush()
		_ = conn.Close()
	}), nil)
	conn, err := net.Dial("tcp", c.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if text, _ := io.ReadAll(bufio.NewReader(conn)); string(text) != "HTTP/1.1 101 Switching Protocols\r\n\r\nbye" {
		t.Errorf("got %q", text)
	}
	if ex := <-c.ended; c.panics != 1 || ex.Status() != 101 || ex.Code != "internal_error" {
		t.Errorf("counted %d, status %d, code %s", c.panics, ex.Status(), ex.Code)
	}
}

// A panic at half-open gives the trial back (B-04).
func TestPanicGivesTheTrialBack(t *testing.T) {
	fail := true
	b := breaker.New(breaker.Options{Failures: 1, HalfOpenRequests: 1}) // open for no time: half-open at once
	var failed breaker.Permit
	b.Acquire(&failed)
	failed.Failure()
	c := newChain(t, b, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if fail {
				panic("oh no")
			}
			next.ServeHTTP(w, r)
		})
	}, func(w http.ResponseWriter, r *http.Request) {
		exchange.From(r.Context()).Judge(exchange.Success)
		w.WriteHeader(http.StatusOK)
	})
	if b.State() != breaker.HalfOpen {
		t.Fatalf("the breaker is %s", b.State())
	}
	_, _, _ = c.get(t)
	fail = false
	if res, _, err := c.get(t); err != nil || res.StatusCode != 200 {
		t.Errorf("the trial is lost: %v %v", res, err)
	}
}

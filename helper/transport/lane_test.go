package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/transport"
)

// memory is a body that is at hand.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func request(ctx context.Context, t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Byte for byte the backend sees what http.Transport would have sent; FuzzRequests has the order of a plain request's
// header fields free.
func TestRequestsAreWrittenAsByHTTPTransport(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*http.Request)
	}{
		{"a plain one", func(*http.Request) {}},
		{"with headers", func(r *http.Request) {
			r.Header = http.Header{"B": {"2", "1"}, "A": {""}, "User-Agent": {"me"}, "Host": {"not.this"}, "Content-Length": {"7"}, "Te": {"trailers"}}
		}},
		{"without a user agent", func(r *http.Request) { r.Header["User-Agent"] = []string{""} }},
		{"with a host of its own", func(r *http.Request) { r.Host = "api.test" }},
		{"with a raw path", func(r *http.Request) { r.URL.Opaque, r.URL.RawQuery = "/a%2Fb;c", "x=1;y" }},
		{"of a method with no body", func(r *http.Request) { r.Method = http.MethodPost }},
		{"with a body at hand", func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = http.MethodPut, memory{bytes.NewReader([]byte("hello"))}, 5
		}},
		{"longer than a buffer", func(r *http.Request) { r.Header.Set("X", strings.Repeat("a", 20<<10)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := plays(t, says(ok))
			for _, rt := range []http.RoundTripper{transport.New(transport.Options{}), lane(t, transport.Options{}, s.URL())} {
				r := request(t.Context(), t, http.MethodGet, s.URL()+"/", nil)
				row.change(r)
				res, err := rt.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				if res.Request != r {
					t.Error("the answer is another request's")
				}
				res.Body.Close()
				rt.(interface{ CloseIdleConnections() }).CloseIdleConnections()
			}
			if seen := s.seen(); len(seen) != 2 || seen[0].text != seen[1].text {
				t.Errorf("got %+v", seen)
			}
		})
	}
}

// What isn't the common case works all the same.
func TestTheRestGoesByHTTPTransport(t *testing.T) {
	for _, row := range []struct {
		name    string
		options transport.Options
		change  func(*http.Request)
		refused bool
	}{
		{"an upgrade", transport.Options{}, func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "x") }, false},
		{"Expect", transport.Options{}, func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, false},
		{"a body that is still to come", transport.Options{}, func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("ab")), 2 }, false},
		{"a body of unknown length", transport.Options{}, func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("ab")), -1 }, false},
		{"half a body", transport.Options{}, func(r *http.Request) { r.Body, r.ContentLength = memory{bytes.NewReader([]byte("ab"))}, 3 }, true},
		{"a request that is to close", transport.Options{}, func(r *http.Request) { r.Close = true }, false},
		{"a limit of connections", transport.Options{MaxConns: 1}, func(*http.Request) {}, false},
		{"a lane that is off", transport.Options{Standard: true}, func(*http.Request) {}, false},
		{"a header that isn't one", transport.Options{}, func(r *http.Request) { r.Header["A b"] = []string{"c"} }, true},
		{"a header with a line break", transport.Options{}, func(r *http.Request) { r.Header["A"] = []string{"b\r\nC: d"} }, true},
		{"a method that isn't one", transport.Options{}, func(r *http.Request) { r.Method = "G T" }, true},
		{"no headers", transport.Options{}, func(r *http.Request) { r.Header = nil }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := plays(t, says(ok))
			l := lane(t, row.options, s.URL())
			r := request(t.Context(), t, http.MethodPost, s.URL()+"/", nil)
			row.change(r)
			res, err := l.RoundTrip(r)
			if (err != nil) != row.refused {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				res.Body.Close()
			}
			send(t, l, http.MethodGet, s.URL()) // only its connection counts
			if !row.refused && row.options == (transport.Options{}) && s.connections() != 2 {
				t.Errorf("both requests took the same connection: %+v", s.seen())
			}
		})
	}
}

func TestAnswersBeforeTheAnswerAreShown(t *testing.T) {
	early := "HTTP/1.1 103 Early Hints\r\nLink: </" + strings.Repeat("a", 4000) + ">\r\n\r\n"
	s := plays(t, says("HTTP/1.1 100 Continue\r\n\r\n"+strings.Repeat(early, 100)+ok))
	l := lane(t, transport.Options{}, s.URL())
	refused := errors.New("no more")
	for _, limit := range []int{1000, 3} {
		var codes []int
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			codes = append(codes, code)
			if len(codes) == limit {
				return refused
			}
			return nil
		}})
		res, err := l.RoundTrip(request(ctx, t, http.MethodGet, s.URL(), nil))
		if limit == 3 {
			if !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if want := append([]int{100}, slicesOf(103, 100)...); !reflect.DeepEqual(codes, want) {
			t.Errorf("got %v", codes)
		}
	}
}

func slicesOf(v, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// The time for the header is for the header: a body may take longer.
func TestNoAnswerInTime(t *testing.T) {
	const limit = 50 * time.Millisecond
	release := make(chan struct{})
	s := plays(t, func(conn, request int, w net.Conn) bool {
		if conn == 2 {
			<-release
			return false
		}
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
		time.AfterFunc(3*limit, func() { _, _ = io.WriteString(w, "k") })
		return true
	})
	defer close(release)
	l := lane(t, transport.Options{ResponseHeader: limit}, s.URL())
	for range 2 {
		if _, body, err := send(t, l, http.MethodGet, s.URL()); body != "ok" || err != nil {
			t.Errorf("a slow body is cut: %q, %v", body, err)
		}
	}
	l.CloseIdleConnections()
	start := time.Now()
	_, _, err := send(t, l, http.MethodGet, s.URL())
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took < limit {
		t.Errorf("gave up after %v", took)
	}
}

// The end of the request's context ends the call and its connection at once, and
// its cause is the error.
func TestCancelling(t *testing.T) {
	for _, row := range []struct{ name, answer string }{
		{"before the answer", ""},
		{"within the header", "HTTP/1.1 200 OK\r\nX: "},
		{"within the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"},
		{"within chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"},
	} {
		t.Run(row.name, func(t *testing.T) { cancelling(t, row.answer, nil) })
		t.Run(row.name+", with a watch", func(t *testing.T) { cancelling(t, row.answer, new(transport.Watch)) })
	}
}

// blind is a context whose end only its watch tells.
type blind struct {
	context.Context
	watch *transport.Watch
}

func (blind) Done() <-chan struct{} { return nil }

func (b blind) Value(key any) any {
	if key == (transport.WatchKey{}) {
		return b.watch
	}
	return b.Context.Value(key)
}

func cancelling(t *testing.T, answer string, watch *transport.Watch) {
	written, gone := make(chan struct{}), make(chan struct{})
	s := plays(t, func(_, _ int, w net.Conn) bool {
		_, _ = io.WriteString(w, answer)
		close(written)
		_, _ = w.Read(make([]byte, 1)) // until the connection ends
		close(gone)
		return false
	})
	l := lane(t, transport.Options{ResponseHeader: time.Hour}, s.URL())
	why := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	end := func() { cancel(why) }
	if watch != nil {
		ctx, end = blind{ctx, watch}, func() { cancel(why); watch.End() }
	}
	go func() { <-written; end() }()
	res, err := l.RoundTrip(request(ctx, t, http.MethodGet, s.URL(), nil))
	if err == nil {
		_, err = io.ReadAll(res.Body)
		res.Body.Close()
	}
	if !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	<-gone
	if watch != nil { // what comes later is over as well
		if _, err := l.RoundTrip(request(ctx, t, http.MethodGet, s.URL(), nil)); !errors.Is(err, why) {
			t.Errorf("after the end: got %v", err)
		}
	}
}

package logger

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func entry() *Entry {
	return &Entry{
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Method: "GET", Host: "example.com", Path: "/order/42", Query: "page=2",
		Route: "orders", Upstream: "order", Backend: "http://order-1:8080", Status: 200,
		Duration: 3141592 * time.Nanosecond, UpstreamTime: 2 * time.Millisecond, BytesIn: 10, BytesOut: 1 << 40,
		ClientIP: "203.0.113.7", Subject: "ada", Client: "", Limited: "", Attempts: 1, Protocol: "HTTP/1.1", UserAgent: "curl/8",
	}
}

func access(t testing.TB, format string, o AccessOptions, entries ...*Entry) string {
	t.Helper()
	o.Enabled = true
	return logged(t, Options{Format: format, Level: "error"}, func(l *Logger) {
		a := NewAccess(l, o)
		for _, e := range entries {
			a.Log(e)
		}
	})
}

func TestAccessLineHasEveryField(t *testing.T) {
	got := object(t, access(t, "json", AccessOptions{Sample: 1}, entry()))
	if _, err := time.Parse(jsonTime, got["ts"].(string)); err != nil {
		t.Error(err)
	}
	delete(got, "ts")
	want := map[string]any{
		"level": "info", "msg": "request", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "method": "GET", "host": "example.com",
		"path": "/order/42", "query": "page=2", "route": "orders", "upstream": "order", "backend": "http://order-1:8080",
		"status": 200, "code": "", "duration_ms": 3.141, "upstream_ms": 2, "bytes_in": 10, "bytes_out": 1 << 40,
		"client_ip": "203.0.113.7", "subject": "ada", "client": "", "limited": "", "attempts": 1, "protocol": "HTTP/1.1", "user_agent": "curl/8",
	}
	if !equalJSON(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if empty := object(t, access(t, "json", AccessOptions{Sample: 1}, &Entry{})); len(empty) != len(want)+1 {
		t.Errorf("an empty entry has %d fields, want %d: %v", len(empty), len(want)+1, empty)
	}
}

func TestAccessLevels(t *testing.T) {
	for status, want := range map[int]string{200: "info", 404: "info", 499: "info", 500: "error", 502: "error", 504: "error"} {
		e := entry()
		e.Status = status
		if got := object(t, access(t, "json", AccessOptions{Sample: 1}, e))["level"]; got != want {
			t.Errorf("%d is at level %s, want %s", status, got, want)
		}
	}
}

func TestAccessConsoleLine(t *testing.T) {
	e := entry()
	e.Status, e.Code, e.Attempts = 504, "upstream_timeout", 2
	e.Header = http.Header{"Referer": {"https://x/?token=S&a=1"}, "Authorization": {"Bearer S"}}
	o := AccessOptions{Headers: []string{"referer", "Authorization"}, RedactQuery: []string{"token"}}
	_, got, _ := strings.Cut(access(t, "console", o, e), " ")
	want := "ERROR GET /order/42?page=2 504 3.1ms code=upstream_timeout route=orders upstream=order backend=http://order-1:8080" +
		" attempts=2 client_ip=203.0.113.7 subject=ada host=example.com trace_id=4bf92f3577b34da6a3ce929d0e0e4736" +
		" Referer=https://x/?token=***&a=1 Authorization=***\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// O-03: nothing that a client sends makes a second line, or anything but valid JSON.
func TestLogInjection(t *testing.T) {
	evil := "a\" status=200\nfake\r\x1b[2J\x00\xff\u202e\\"
	e := entry()
	e.Host, e.Path, e.Query, e.UserAgent, e.Subject, e.Method, e.ClientIP = evil, evil, evil, evil, evil, evil, evil
	e.Header = http.Header{"X-Evil": {evil, evil}}
	o := AccessOptions{Sample: 1, Headers: []string{"X-Evil"}}
	out := access(t, "json", o, e)
	if strings.Count(out, "\n") != 1 || strings.ContainsAny(out, "\x1b\x00\r") || !utf8.ValidString(out) {
		t.Errorf("not one clean line: %q", out)
	}
	got := object(t, out)
	if want := strings.ToValidUTF8(evil, "\ufffd"); got["user_agent"] != want {
		t.Errorf("user_agent is %q, want %q", got["user_agent"], want)
	}
	if out := access(t, "console", o, e); strings.Count(out, "\n") != 1 || strings.ContainsAny(out, "\x1b\x00\r\u202e") || !utf8.ValidString(out) {
		t.Errorf("not one clean line: %q", out)
	}
}

func TestSamplingSparesErrors(t *testing.T) {
	const requests = 2000
	for _, c := range []struct {
		name     string
		status   int
		sample   float64
		from, to int
	}{
		{"all of 200 at 1", 200, 1, requests, requests},
		{"none of 200 at 0", 200, 0, 0, 0},
		{"a quarter of 200 at 0.25", 200, 0.25, requests * 22 / 100, requests * 28 / 100},
		{"a quarter of 304 at 0.25", 304, 0.25, requests * 22 / 100, requests * 28 / 100},
		{"none of 101 at 0", 101, 0, 0, 0},
		{"all of 401 at 0", 401, 0, requests, requests},
		{"all of 499 at 0", 499, 0, requests, requests},
		{"all of 503 at 0", 503, 0, requests, requests},
	} {
		entries := make([]*Entry, requests)
		for i := range entries {
			entries[i] = &Entry{Status: c.status, TraceID: fmt.Sprintf("%032x", i)}
		}
		first := access(t, "json", AccessOptions{Sample: c.sample}, entries...)
		if n := strings.Count(first, "\n"); n < c.from || n > c.to {
			t.Errorf("%s: %d of %d were logged", c.name, n, requests)
		}
	}
	one := []*Entry{{Status: 200, TraceID: "a"}, {Status: 200, TraceID: "a"}, {Status: 302, TraceID: "a"}}
	if n := strings.Count(access(t, "json", AccessOptions{Sample: 0.5}, one...), "\n"); n != 0 && n != 3 {
		t.Errorf("%d of 3 requests of one trace were logged", n)
	}
}

func TestAccessCanBeSwitchedOff(t *testing.T) {
	out := logged(t, Options{}, func(l *Logger) {
		NewAccess(l, AccessOptions{Sample: 1}).Log(&Entry{Status: 500})
	})
	if out != "" {
		t.Error(out)
	}
}

// discard is a Logger whose sink costs nothing.
func discard(b testing.TB, format string) *Logger {
	l, err := New(Options{Format: format, Writer: nothing{}})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

func TestAccessAllocations(t *testing.T) {
	e := entry()
	e.Query = "page=2&access_token=S"
	for _, format := range []string{"json", "console"} {
		l := discard(t, format)
		a := NewAccess(l, AccessOptions{Enabled: true, Sample: 1, RedactQuery: []string{"access_token", "code"}})
		if n := testing.AllocsPerRun(1000, func() { a.Log(e) }); n > 3 {
			t.Errorf("%s: %v allocations a line, want at most 3", format, n)
		}
		closeNow(t, l)
	}
}

func BenchmarkAccess(b *testing.B) {
	for _, format := range []string{"json", "console"} {
		b.Run(format, func(b *testing.B) {
			l := discard(b, format)
			a := NewAccess(l, AccessOptions{Enabled: true, Sample: 1, RedactQuery: []string{"access_token", "token", "api_key", "code"}})
			e := entry()
			b.ReportAllocs()
			for b.Loop() {
				a.Log(e)
			}
			b.StopTimer()
			closeNow(b, l)
		})
	}
}

package logger

import (
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// model writes an Entry by zap's own encoder.
type model struct {
	access *Access
	entry  *Entry
}

func (m model) line(t testing.TB) string {
	level := zapcore.InfoLevel
	if m.entry.Status >= http.StatusInternalServerError {
		level = zapcore.ErrorLevel
	}
	b, err := newJSONEncoder().EncodeEntry(zapcore.Entry{Level: level, Time: m.entry.Time, Message: "request"}, []zapcore.Field{zap.Inline(m)})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (m model) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	e := m.entry
	enc.AddString("trace_id", e.TraceID)
	enc.AddString("method", e.Method)
	enc.AddString("host", clip(e.Host))
	enc.AddString("path", clip(e.Path))
	enc.AddString("query", redactQuery(e.Query, m.access.redact))
	enc.AddString("route", e.Route)
	enc.AddString("upstream", e.Upstream)
	enc.AddString("backend", e.Backend)
	enc.AddInt("status", e.Status)
	enc.AddString("code", e.Code)
	enc.AddFloat64("duration_ms", float64(e.Duration.Microseconds())/1000)
	enc.AddFloat64("upstream_ms", float64(e.UpstreamTime.Microseconds())/1000)
	enc.AddInt64("bytes_in", e.BytesIn)
	enc.AddInt64("bytes_out", e.BytesOut)
	enc.AddString("client_ip", e.ClientIP)
	enc.AddString("subject", clip(e.Subject))
	enc.AddString("client", clip(e.Client))
	enc.AddString("limited", e.Limited)
	enc.AddInt("attempts", e.Attempts)
	enc.AddString("protocol", e.Protocol)
	enc.AddString("user_agent", clip(e.UserAgent))
	if len(m.access.headers) == 0 {
		return nil
	}
	return enc.AddObject("headers", zapcore.ObjectMarshalerFunc(func(enc zapcore.ObjectEncoder) error {
		for _, h := range m.access.headers {
			if values := e.Header[h.name]; len(values) > 0 {
				enc.AddString(h.name, m.access.headerValue(h, values))
			}
		}
		return nil
	}))
}

// FuzzJSON holds the line of the access log against zap's encoder.
func FuzzJSON(f *testing.F) {
	f.Add("/order/42", "page=2&token=secret", "curl/8", "GET", int64(3141592), int64(1e18), 200, int64(10))
	f.Add("/\"\\\n\r\t\x00\x1f\x7f", "a\xffb\u2028\xc3", "\U0001f600<&>", "\u00e9", int64(1_000_000), int64(999_000), 502, int64(-1))
	f.Add("", "", "", "", int64(0), int64(1_100_000), 0, int64(1<<62))
	l := discard(f, "json")
	defer closeNow(f, l)
	plain := NewAccess(l, AccessOptions{Enabled: true, RedactQuery: []string{"token"}})
	with := NewAccess(l, AccessOptions{Enabled: true, Headers: []string{"X-A", "Missing", "Referer", "Cookie"}})
	lines := map[*Access]*line{plain: {access: plain}, with: {access: with}} // used again, as the pool does
	f.Fuzz(func(t *testing.T, path, query, agent, method string, duration, since int64, status int, bytes int64) {
		duration, since = max(0, duration), max(0, since)
		e := &Entry{
			Time: time.Unix(0, since), TraceID: agent, Method: method, Host: path, Path: path, Query: query, Route: method, Upstream: agent,
			Backend: path, Status: status, Code: query, Duration: time.Duration(duration) % (1 << 50), UpstreamTime: time.Duration(duration % 1e7),
			BytesIn: bytes, BytesOut: -bytes, ClientIP: agent, Subject: query, Client: method, Limited: path, Attempts: status, Protocol: agent,
			UserAgent: agent, Header: http.Header{"X-A": {agent, path}, "Referer": {query}, "Cookie": {"secret"}},
		}
		for a, line := range lines {
			line.entry = *e
			line.text = line.appendJSON(line.text[:0])
			if want := (model{a, e}).line(t); string(line.text) != want {
				t.Errorf("got  %s\nwant %s", line.text, want)
			}
		}
	})
}

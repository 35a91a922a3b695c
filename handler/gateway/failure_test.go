package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"gatehouse/helper/server/servertest"
)

// messages returns the log's lines with the message.
func (s *stand) messages(message string) (lines []map[string]any) {
	s.t.Helper()
	if err := s.logger.Sync(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	for text := range strings.Lines(s.log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			s.t.Fatal(err)
		}
		if strings.HasPrefix(line["msg"].(string), message) {
			lines = append(lines, line)
		}
	}
	return lines
}

const failingConfig = `upstreams: {app: {url: "http://BACKEND", breaker: {failures: 0}, eject: {failures: 3, max_percent: 100}, retry: {attempts: 1}, route: {path: /, auth: none, timeout: 1s}}}`

func TestTheLogSaysWhyACallFailed(t *testing.T) {
	nobody := servertest.Refuses(t)
	for _, row := range []struct {
		name, backend, code, kind, says string
	}{
		{"nobody listens", nobody, "upstream_unreachable", "connection_refused", nobody},
		{"it breaks off", newRawBackend(t, func(_ string, c net.Conn, _ *bufio.Reader) { _ = c.Close() }).Addr().String(), "upstream_reset", "connection_terminated", "EOF"},
		{"it doesn't speak HTTP", newRawBackend(t, says("220 mail.test ESMTP\r\n\r\n")).Addr().String(), "upstream_bad_response", "http_protocol_error", "malformed HTTP"},
		{"its status has two digits", newRawBackend(t, says("HTTP/1.1 +20 OK\r\nContent-Length: 0\r\n\r\n")).Addr().String(), "upstream_bad_response", "http_protocol_error", "a status that isn't"},
		{"its status is below 100", newRawBackend(t, says("HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok")).Addr().String(), "upstream_bad_response", "http_protocol_error", "a status that isn't"},
		{"its status is zero", newRawBackend(t, says("HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nok")).Addr().String(), "upstream_bad_response", "http_protocol_error", "a status that isn't"},
		{"it doesn't answer in time", newRawBackend(t, func(_ string, c net.Conn, _ *bufio.Reader) { _, _ = c.Read(make([]byte, 1)) }).Addr().String(),
			"upstream_timeout", "http_response_timeout", "time is over"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, row.backend, failingConfig)
			got := s.get("/")
			if got.code() != row.code {
				t.Fatalf("answered %d %s", got.StatusCode, got.body)
			}
			lines := s.messages("upstream call failed")
			if len(lines) != 1 {
				t.Fatalf("the log has %v", lines)
			}
			logged(t, lines[0], map[string]any{
				"level": "warn", "trace_id": got.Header.Get("X-Request-Id"), "upstream": "app", "backend": "http://" + row.backend,
				"code": row.code, "proxy_error": row.kind, "suppressed": 0.0,
			})
			if text, _ := lines[0]["error"].(string); !strings.Contains(text, row.says) {
				t.Errorf("the error is %q, want %q in it", text, row.says)
			}
		})
	}
}

func TestManyFailuresMakeFewLines(t *testing.T) {
	nobody := servertest.Refuses(t)
	s := start(t, nobody, strings.Replace(failingConfig, "{failures: 3, max_percent: 100}", "{failures: 0}", 1))
	const calls = 200
	for range calls {
		s.get("/")
	}
	lines, told := s.messages("upstream call failed"), 0
	for i := 0; len(lines) < 2 && i < 500; i++ { // the next line comes after a second, with those that had none
		ticks(10)
		s.get("/")
		lines = s.messages("upstream call failed")
	}
	for _, line := range lines {
		told += 1 + int(line["suppressed"].(float64))
	}
	if len(lines) < 2 || len(lines) > 20 || told < calls {
		t.Errorf("%d lines tell of %d failures: %v", len(lines), told, lines)
	}
}

func TestAnEjectionNamesTheLastFailure(t *testing.T) {
	nobody := servertest.Refuses(t)
	for name, row := range map[string]struct{ backend, kind string }{
		"no connection": {nobody, "connection_refused"},
		"a status":      {newRawBackend(t, says("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")).Addr().String(), "status 503"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, row.backend, failingConfig)
			for range 3 {
				s.get("/")
			}
			ejections := s.messages("backend ejected")
			if len(ejections) != 1 {
				t.Fatalf("ejections: %v", ejections)
			}
			logged(t, ejections[0], map[string]any{"last_failure": row.kind, "backend": "http://" + row.backend})
			if b := s.gw.Upstreams()[0].Backends[0]; b.State != "ejected" || b.Healthy || !b.Ejected || b.Draining {
				t.Errorf("it is shown as %+v", b)
			}
			if err := s.gw.DrainBackend("app", "http://"+row.backend, true); err != nil {
				t.Fatal(err)
			}
			if b := s.gw.Upstreams()[0].Backends[0]; b.State != "draining" || b.Healthy || !b.Ejected || !b.Draining {
				t.Errorf("while it drains, it is shown as %+v", b)
			}
		})
	}
}

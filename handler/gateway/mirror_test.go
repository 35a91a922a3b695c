package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const mirrorConfig = `
auth: {providers: {test: {issuer: test, algorithms: [HS256], secret: SECRET}}}
upstreams:
  app: {url: "http://BACKEND"}
  next: {url: "http://NEXT/v2", timeouts: {request: 5s}, breaker: {failures: 1}, eject: {failures: 1, max_percent: 100}}
routes:
  - {path: /api, upstream: app, strip_prefix: true, mirror: {upstream: next, percent: 100, compare: true}}
  - {path: /quiet, upstream: app, auth: none, mirror: {upstream: next, percent: 100}}
`

type mirrored struct{ head, body string }

// startMirror is a gateway whose mirror answers with what answer makes of the
// request; what it gets comes by the channel.
func startMirror(t *testing.T, answer func(head string, conn net.Conn, in *bufio.Reader)) (*stand, *rawBackend, chan mirrored) {
	t.Helper()
	read := func(head string, in *bufio.Reader) string {
		n := 0
		if lengths := headerLines(head, "Content-Length"); len(lengths) > 0 {
			n, _ = strconv.Atoi(lengths[0])
		}
		body := make([]byte, n)
		_, _ = io.ReadFull(in, body)
		return string(body)
	}
	copies := make(chan mirrored, 100)
	app := newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
		read(head, in)
		_, _ = io.WriteString(conn, okAnswer)
	})
	next := newRawBackend(t, func(head string, conn net.Conn, in *bufio.Reader) {
		copies <- mirrored{head, read(head, in)}
		answer(head, conn, in)
	})
	return start(t, app.Addr().String(), strings.Replace(mirrorConfig, "NEXT", next.Addr().String(), 1)), app, copies
}

// result waits for what became of a copy, which is after the client's answer.
func (s *stand) result(route, result string) {
	s.t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s.counts.get("mirrored "+route+" "+result) == 0 {
		select {
		case <-deadline:
			s.t.Fatalf("no copy is %s: %v", result, s.counts)
		case <-tick.C:
		}
	}
}

// The mirror gets what the backend got: the same body, and the identity that was
// verified, not the one that was claimed.
func TestAMirrorGetsTheSameRequest(t *testing.T) {
	s, app, copies := startMirror(t, says(okAnswer))
	ada := bearer(t, map[string]any{"sub": "ada", "scope": "app"})
	if got := s.do("POST", "/api/a%2Bb?x", "hello", ada, "X-User-Id: root", "Connection: X-User-Id"); got.body != "ok" {
		t.Fatalf("got %d %q", got.StatusCode, got.body)
	}
	s.result("/api", "same")
	copied := <-copies
	want := strings.Replace(app.last(t), app.Addr().String(), "mirror", 1)
	got := strings.Replace(copied.head, headerLines(copied.head, "Host")[0], "mirror", 1)
	if got = strings.Replace(got, "/v2/", "/", 1); sortedLines(got) != sortedLines(want) || copied.body != "hello" {
		t.Errorf("the mirror got\n%s%q, the backend\n%s", got, copied.body, want)
	}
	if fmt.Sprint(headerLines(copied.head, "X-User-Id")) != "[ada]" || !strings.HasPrefix(copied.head, "POST /v2/a%2Bb?x HTTP/1.1\r\n") {
		t.Errorf("the mirror got %s", copied.head)
	}
	if got := s.get("/api/"); got.code() != "credentials_missing" || len(copies) > 0 {
		t.Error("a request that was refused is mirrored")
	}
}

func TestAMirrorIsCompared(t *testing.T) {
	for _, row := range []struct{ name, answer, result, log string }{
		{"the same answer", okAnswer, "same", ""},
		{"another status", strings.Replace(okAnswer, "200 OK", "404 No", 1), "different", `"status":[200,404],"length":[2,2],"body_differs":false`},
		{"another length", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nokay", "different", `"status":[200,200],"length":[2,4],"body_differs":true`},
		{"another body", strings.Replace(okAnswer, "\r\n\r\nok", "\r\n\r\nno", 1), "different", `"length":[2,2],"body_differs":true`},
		{"half an answer", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", "failed", "mirrored request failed"},
		{"no answer", "", "failed", "mirrored request failed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, _, _ := startMirror(t, says(row.answer))
			if got := s.get("/api/", bearer(t, map[string]any{"sub": "ada", "scope": "app"})); got.body != "ok" {
				t.Fatalf("got %d %q", got.StatusCode, got.body)
			}
			s.result("/api", row.result)
			line := s.only()
			until(t, "the log line "+row.log, func() bool { // after it was counted
				s.lines()
				return strings.Contains(s.log.String(), row.log)
			})
			if text := s.log.String(); strings.Count(text, line["trace_id"].(string)) < 2 && row.log != "" {
				t.Errorf("the log doesn't say of which request:\n%s", text)
			}
			if s.counts.get("transition next 2") != 0 || s.counts.get("ejected") != 0 {
				t.Errorf("a copy was judged: %v", s.counts)
			}
		})
	}
}

// A mirror that hangs delays nobody, takes a bounded number of copies, and is told
// nothing that is too long.
func TestAMirrorThatHangsHarmsNobody(t *testing.T) {
	s, _, copies := startMirror(t, func(_ string, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) })
	if got := s.do("POST", "/quiet", strings.Repeat("x", 64<<10+1)); got.body != "ok" {
		t.Fatalf("got %d", got.StatusCode)
	}
	s.result("/quiet", "dropped")
	began := time.Now()
	for range 150 {
		if got := s.get("/quiet"); got.body != "ok" {
			t.Fatalf("got %d", got.StatusCode)
		}
	}
	if took := time.Since(began); took > 4*time.Second { // a copy is waited for 5 s
		t.Errorf("150 requests took %s", took)
	}
	if dropped := s.counts.get("mirrored /quiet dropped"); dropped < 50 || dropped > 1+150-64 {
		t.Errorf("%d copies were dropped", dropped)
	}
	for range 8 {
		<-copies
	}
}

func sortedLines(text string) string {
	lines := strings.Split(text, "\r\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "Accept-Encoding") {
			lines[i] = ""
		}
	}
	slices.Sort(lines)
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

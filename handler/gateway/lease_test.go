package gateway_test

import (
	"testing"
)

// A client that is slow to send its body doesn't keep the place of a trial, neither
// the breaker's nor that of an ejected backend.
func TestASlowClientLosesTheTrial(t *testing.T) {
	for _, row := range []struct{ name, config, refusal string }{
		{"of the breaker", "breaker: {failures: 1, open_for: 100ms}, eject: {failures: 0}", "breaker_open"},
		{"of an ejected backend", "breaker: {failures: 0}, eject: {failures: 1, for: 100ms, max_percent: 100}", "no_backend"},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend, _, _ := statusBackend(t)
			s := start(t, backend.Addr().String(), `
upstreams: {app: {url: "http://BACKEND", retry: {attempts: 1}, `+row.config+`, route: {path: /, auth: none}}}
`)
			if got := s.get("/500"); got.StatusCode != 500 {
				t.Fatalf("the backend answers %d", got.StatusCode)
			}
			if got := s.get("/200"); got.code() != row.refusal {
				t.Fatalf("the failure didn't count: %d %s", got.StatusCode, got.body)
			}
			ticks(150)
			slow := s.dial()
			slow.send("POST /reset HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 4\r\n\r\nab")
			until(t, "the slow client has the trial", func() bool { return len(backend.seen()) == 2 })
			if got := s.get("/200"); got.code() != row.refusal {
				t.Errorf("there are two trials: %d %s", got.StatusCode, got.body)
			}
			until(t, "another request is the trial", func() bool { return s.get("/200").StatusCode == 200 })
			slow.send("cd")
			if got := slow.answer("POST"); got.StatusCode < 400 {
				t.Errorf("the slow client is answered %d", got.StatusCode)
			}
			if got := s.get("/200"); got.StatusCode != 200 {
				t.Errorf("the late result counted: %d %s", got.StatusCode, got.body)
			}
		})
	}
}

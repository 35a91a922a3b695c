package redistest

import (
	"testing"
)

// Require skips a test without a redis-server.
func Require(t testing.TB) {
	t.Helper()
	if !Installed() {
		t.Skip(Binary + " isn't on the PATH: this test needs a real one")
	}
}

// New is a server that lives as long as the test.
func New(t testing.TB, args ...string) *Server {
	t.Helper()
	Require(t)
	s, err := Start(t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// MustDo is Do in a test.
func (s *Server) MustDo(t testing.TB, command ...string) string {
	t.Helper()
	reply, err := s.Do(command...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

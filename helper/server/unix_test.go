package server

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// socketPath is in a folder of its own: t.TempDir's names can be longer than a socket's may be.
func socketPath(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(folder, "http.sock")
}

func TestUnixSocket(t *testing.T) {
	path := socketPath(t)
	s, err := New(Options{Address: "unix:" + path, Handler: http.HandlerFunc(echoTarget)})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Addr(); got != "unix:"+path {
		t.Errorf("Addr is %s, want unix:%s", got, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o660 {
		t.Errorf("the socket's mode is %o, want 660", mode)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket's file is still there: %v", err)
	}
}

func TestUnixSocketInTheWay(t *testing.T) {
	tests := []struct {
		name  string
		leave func(t *testing.T, path string)
		says  string // "": New succeeds
	}{
		{"a socket that nobody listens on is replaced", leaveStale, ""},
		{"a socket in use is refused", listenThere, syscall.EADDRINUSE.Error()},
		{"a file that isn't a socket is refused", leaveFile, "isn't a socket"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := socketPath(t)
			test.leave(t, path)
			s, err := New(Options{Address: "unix:" + path, Handler: http.HandlerFunc(echoTarget)})
			if err == nil {
				defer s.Close()
			}
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("got %v, want %q", err, test.says)
			}
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("what stood there is gone: %v", err)
			}
		})
	}
}

func leaveStale(t *testing.T, path string) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // as when a process is killed
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

func listenThere(t *testing.T, path string) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
}

func leaveFile(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
}

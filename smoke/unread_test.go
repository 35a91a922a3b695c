package smoke

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Who starts a gateway may have stopped reading what it writes: it ends all the same, though not with all of its log.
func TestItEndsWithoutAReader(t *testing.T) {
	gateway := build(t)
	for name, test := range map[string]struct {
		signals []os.Signal
		code    int
	}{
		"after one signal":  {[]os.Signal{syscall.SIGTERM}, 0},
		"after two signals": {[]os.Signal{syscall.SIGTERM, os.Interrupt}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, err := os.MkdirTemp("", "g") // t.TempDir's names can be longer than a socket's may be
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(folder)
			public := filepath.Join(folder, "public")
			unread := fullPipe(t)
			cmd := exec.Command(gateway.path, "serve", "--listen", "unix:"+public, "--admin", "unix:"+filepath.Join(folder, "admin"), "--route", "/=http://127.0.0.1:9")
			cmd.Stdout, cmd.Stderr = unread, unread
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() }).Stop()
			conn, err := net.Dial("unix", public)
			for late := time.Now().Add(patience); err != nil && time.Now().Before(late); { // it takes signals before connections
				conn, err = net.Dial("unix", public)
			}
			if err == nil {
				err = conn.Close()
			}
			if err != nil {
				t.Error(err)
			}
			for _, signal := range test.signals {
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait() // the exit code says it
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("it ended with %d, want %d: %v", code, test.code, cmd.ProcessState)
			}
		})
	}
}

// fullPipe is one that nobody reads and that takes no byte more.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil {
			_, full = syscall.Write(int(fd), []byte{'\n'})
		}
		return true
	})
	if err != nil || !errors.Is(full, syscall.EAGAIN) {
		t.Fatal(err, full)
	}
	return w
}

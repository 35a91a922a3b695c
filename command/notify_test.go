package command

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestServeTellsSystemd(t *testing.T) {
	folder, err := os.MkdirTemp("", "notify") // t.TempDir may be too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "s")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := listener.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", socket)
	r := start(t, nil, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--route", "/a=http://127.0.0.1:1")
	message := make([]byte, 100)
	n, err := listener.Read(message)
	if err != nil || string(message[:n]) != "READY=1" {
		t.Fatalf("got %q (%v); the output is:\n%s%s", message[:n], err, r.stdout, r.stderr)
	}
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("got %d: %s", code, r.stderr)
	}
}

func TestServeGoesOnWhenNobodyListens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "s"))
	r := start(t, nil, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--route", "/a=http://127.0.0.1:1")
	r.stderr.waitFor(t, "telling NOTIFY_SOCKET that it serves: ")
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("got %d: %s", code, r.stderr)
	}
}

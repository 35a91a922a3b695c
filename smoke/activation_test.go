package smoke

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asManager starts the gateway as systemd does, with sockets under these names and the flags in args.
func (b binary) asManager(names string, sockets []*os.File, args ...string) *exec.Cmd {
	// the shell knows the id that the gateway will have
	cmd := exec.Command("sh", append([]string{"-c", "LISTEN_PID=$$ exec \"$@\"", "sh", b.path, "serve"}, args...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("LISTEN_FDS=%d", len(sockets)), "LISTEN_FDNAMES="+names)
	cmd.ExtraFiles = sockets
	return cmd
}

// A service manager may open the sockets before the gateway starts, as systemd does (sd_listen_fds(3)).
func TestSocketsOfTheServiceManager(t *testing.T) {
	gateway := build(t)
	folder, err := os.MkdirTemp("", "g") // t.TempDir's names can be longer than a socket's may be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	public, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, names, says string }{
		{"has its setting's name", "server.listen", ""},
		{"has no name", "", "needs a name"},
	} {
		t.Run("one that "+row.name, func(t *testing.T) {
			cmd := gateway.asManager(row.names, []*os.File{public}, "--route", "/v1="+newEcho(t), "--listen", "127.0.0.1:1", "--admin", "unix:"+folder+"/a")
			if row.says != "" {
				out, err := cmd.CombinedOutput()
				if err == nil || !strings.Contains(string(out), row.says) {
					t.Errorf("it ended with %v: %s", err, out)
				}
				return
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}()
			conn := dial(t, listener.Addr().String()) // it waits in the queue until the gateway accepts it
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write([]byte("POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")); err != nil {
				t.Fatal(err)
			}
			if answer := answerOf(t, conn); answer.StatusCode != 200 || bodyOf(t, answer) != "hi" {
				t.Errorf("got %d", answer.StatusCode)
			}
		})
	}
}

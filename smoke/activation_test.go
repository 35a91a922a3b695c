package smoke

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

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
			// the shell knows the id that the gateway will have
			cmd := exec.Command("sh", "-c", "LISTEN_PID=$$ exec \"$@\"", "sh", gateway.path, "serve", "--route", "/v1="+newEcho(t),
				"--listen", "127.0.0.1:1", "--admin", "unix:"+folder+"/a")
			cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "LISTEN_FDNAMES="+row.names)
			cmd.ExtraFiles = []*os.File{public}
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

package handover_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/handover"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStartSaysWhatBecameOfTheNewProcess(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name, script string
		ctx          context.Context
		timeout      time.Duration
		says         string // "": it serves
	}{
		{"one that serves", `test "$GATEHOUSE_HANDOVER" = "server.listen :1" && test -S /dev/fd/4 && test -z "$LISTEN_FDS" && echo ready >&3`, t.Context(), time.Minute, ""},
		{"one that says what is wrong", "echo no room >&3; exit 1", t.Context(), time.Minute, "no room"},
		{"one that ends without a word", "exit 3", t.Context(), time.Minute, "exit status 3"},
		{"one that takes too long", "exec sleep 100", t.Context(), time.Millisecond, "doesn't serve after 1ms"},
		{"one that leaves a process behind", "sleep 1 & exec sleep 100", t.Context(), time.Millisecond, "doesn't serve after 1ms"},
		{"one that isn't wanted any more", "exec sleep 100", gone, time.Minute, "context canceled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			begun := time.Now()
			pid, err := handover.Start(row.ctx, handover.Options{
				Path: "/bin/sh", Args: []string{"-c", row.script}, Env: append(os.Environ(), "LISTEN_FDS=7"), Timeout: row.timeout,
				Sockets: []handover.Socket{{Key: handover.Key("server.listen", ":1"), Listener: listener}},
			})
			switch {
			case row.says == "" && (err != nil || pid <= 1):
				t.Errorf("process %d, %v", pid, err)
			case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says) || pid != 0):
				t.Errorf("process %d, %v, want %q", pid, err, row.says)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Run("the listener still doesn't block", func(t *testing.T) {
		ended := make(chan error, 1)
		go func() {
			_, err := listener.Accept()
			ended <- err
		}()
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestInheritTakesWhatIsForThisProcessOnly(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, row := range []struct {
		name string
		env  map[string]string
		says string // "": nothing is inherited, and nothing wrong
	}{
		{"nothing", nil, ""},
		{"another process's sockets", map[string]string{"LISTEN_PID": own + "0", "LISTEN_FDS": "1"}, ""},
		{"no socket", map[string]string{"LISTEN_PID": own, "LISTEN_FDS": "0"}, ""},
		{"no number", map[string]string{"LISTEN_PID": own, "LISTEN_FDS": "many"}, "LISTEN_FDS"},
		{"a socket without a name", map[string]string{"LISTEN_PID": own, "LISTEN_FDS": "1"}, "LISTEN_FDNAMES"},
	} {
		t.Run(row.name, func(t *testing.T) {
			i, err := handover.Inherit(func(name string) (string, bool) { value, ok := row.env[name]; return value, ok })
			if row.says != "" {
				if err == nil || !strings.Contains(err.Error(), row.says) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if listener, err := i.Listener("server.listen", ":1"); listener != nil || err != nil || i.HandedOver() || i.Ready() != nil {
				t.Errorf("got %v, %v", listener, err)
			}
		})
	}
}

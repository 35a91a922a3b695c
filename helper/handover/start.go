package handover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxText bounds what is read of a new process's reason to fail.
const maxText = 64 << 10

// Options are the new process.
type Options struct {
	Path    string // of its program
	Args    []string
	Env     []string
	Stdout  *os.File
	Stderr  *os.File
	Sockets []Socket
	Timeout time.Duration // in which it must serve
}

// Socket is what a listener listens on.
type Socket struct {
	Key      string
	Listener net.Listener // a TCP or unix listener
}

// duplicate makes another descriptor of the socket. The listener's own File would do as well, were it not that os.File
// makes a socket blocking that is given to a process, for both processes: Close would wait for Accept then.
func (s Socket) duplicate() (*os.File, error) {
	raw, err := s.Listener.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var duplicate int
	var failed error
	err = raw.Control(func(fd uintptr) { duplicate, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(duplicate), s.Key), nil
}

// Start starts a process that gets the sockets, waits until it serves, and returns its id. When ctx ends before that, or
// the time is over, the process is killed.
func Start(ctx context.Context, o Options) (pid int, err error) {
	heard, told, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("starting a new process: %w", err)
	}
	defer heard.Close() //nolint:errcheck // it was only read
	files := []*os.File{told}
	defer func() {
		for _, file := range files {
			err = errors.Join(err, file.Close()) // the new process has its own
		}
	}()
	keys := make([]string, len(o.Sockets))
	for i, socket := range o.Sockets {
		file, err := socket.duplicate()
		if err != nil {
			return 0, fmt.Errorf("handing over %s: %w", socket.Key, err)
		}
		files = append(files, file)
		keys[i] = socket.Key
	}

	cmd := exec.Command(o.Path, o.Args...) //nolint:gosec // it is this program again
	cmd.Env = append(without(o.Env, keysVariable, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"), keysVariable+"="+strings.Join(keys, "\n"))
	cmd.ExtraFiles = files
	if o.Stdout != nil { // in an interface it would be a file that isn't open
		cmd.Stdout = o.Stdout
	}
	if o.Stderr != nil {
		cmd.Stderr = o.Stderr
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("starting a new process: %w", err)
	}
	if err := told.Close(); err != nil { // the last writer is the new process: when it ends, so does what it says
		return 0, err
	}
	files = files[1:]
	pid = cmd.Process.Pid // before wait releases the process, which makes it -1
	if err := wait(ctx, cmd, heard, o.Timeout); err != nil {
		return 0, err
	}
	return pid, nil
}

// wait returns nil once the process says that it serves, or ends it and says why it doesn't.
func wait(ctx context.Context, cmd *exec.Cmd, heard *os.File, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it doesn't serve after %v", timeout))
	defer cancel()
	alive := context.AfterFunc(ctx, func() { // both end the reading, also where a process of the new one's lives on
		_ = cmd.Process.Kill()
		_ = heard.SetReadDeadline(time.Now())
	})
	text, err := io.ReadAll(io.LimitReader(heard, maxText))
	if alive() && err == nil && string(text) == ready {
		return cmd.Process.Release() // it goes on without this process
	}
	if string(text) != ready && len(text) > 0 {
		err = errors.New(strings.TrimSpace(string(text)))
	}
	_ = cmd.Process.Kill() // it may still live; the exit code of one that has ended by itself stays
	ended := cmd.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = fmt.Errorf("it ended without saying why: %w", ended)
	}
	return fmt.Errorf("the new process: %w", err)
}

// without is env without some variables.
func without(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

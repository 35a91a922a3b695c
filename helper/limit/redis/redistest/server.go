package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gatehouse/helper/server/servertest"
)

// Binary is what must be on the PATH.
const Binary = "redis-server"

// startTimeout is for a server until it answers.
const startTimeout = 10 * time.Second

// Server is one redis-server process. Its methods aren't for concurrent use.
type Server struct {
	Port int

	args []string
	cmd  *exec.Cmd
}

// Start runs a server in the folder on a free port of the loopback, with further
// arguments, and returns when it answers.
func Start(folder string, args ...string) (*Server, error) {
	port, err := servertest.FreePort()
	if err != nil {
		return nil, err
	}
	name := strconv.Itoa(port)
	s := &Server{Port: port, args: append(args, "--port", name, "--bind", "127.0.0.1", "--dir", folder, "--save", "",
		"--logfile", name+".log", "--loglevel", "warning")}
	return s, s.Restart()
}

// Addr is its address.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Restart starts it again where it was, empty, and returns when it answers.
func (s *Server) Restart() error {
	s.cmd = exec.Command(Binary, s.args...)
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", Binary, err)
	}
	err := Until(startTimeout, func() error {
		_, err := s.Do("PING")
		if errors.As(err, new(ReplyError)) { // it wants a password, and so it is there
			return nil
		}
		return err
	})
	if err != nil {
		s.Kill()
		return fmt.Errorf("%s on port %d doesn't answer: %w", Binary, s.Port, err)
	}
	return nil
}

// Kill ends it without a chance to do anything, and waits for the end.
func (s *Server) Kill() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// Pause stops it as it is: connections stay open and nothing answers.
func (s *Server) Pause() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused one go on.
func (s *Server) Resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

// ReplyError is an error that Redis answered with.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// Do sends one command on a connection of its own and returns what it is answered:
// a text, "" for none, or of an array the elements, one a line.
func (s *Server) Do(command ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.Addr(), time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close() //nolint:errcheck // nothing is left to send
	if err := conn.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return "", err
	}
	var request strings.Builder
	fmt.Fprintf(&request, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&request, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(conn, request.String()); err != nil {
		return "", err
	}
	return read(bufio.NewReader(conn))
}

// read reads a reply. Of an array it is what the elements are, one a line.
func read(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	switch line = strings.TrimSpace(line); line[0] {
	case '-':
		return "", ReplyError(line[1:])
	case '$':
		size, _ := strconv.Atoi(line[1:])
		if size < 0 { // there is none
			return "", nil
		}
		text := make([]byte, size+len("\r\n"))
		_, err := io.ReadFull(in, text)
		return string(text[:size]), err
	case '*':
		size, _ := strconv.Atoi(line[1:])
		var texts []string
		for range size {
			text, err := read(in)
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, "\n"), nil
	}
	return line[1:], nil
}

// Until calls f until it returns nil, or returns its last error when the time is
// over.
func Until(patience time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// Installed says whether there is a redis-server.
func Installed() bool {
	_, err := exec.LookPath(Binary)
	return err == nil
}

// write puts a file into the folder of a server.
func write(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

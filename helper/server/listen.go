package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

const (
	unixScheme = "unix:"
	socketMode = 0o660 // the owner and the group: a proxy on the same machine shares the group
)

func listen(address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, unixScheme); ok {
		return listenUnix(path)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenError(address, err)
	}
	return listener, nil
}

func listenUnix(path string) (net.Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, listenError(unixScheme+path, err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, listenError(unixScheme+path, err)
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(listenError(unixScheme+path, err), listener.Close())
	}
	return listener, nil
}

// removeStale removes the socket that a process left behind when it was killed. Anything else at path stays: a file that
// isn't a socket is somebody's, and a socket that is answered is in use.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("there is a file that isn't a socket: move it or choose another path")
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		return errors.Join(syscall.EADDRINUSE, conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) { // only a refusal proves that nobody listens
		return err
	}
	return os.Remove(path)
}

// listenError adds what to do about the usual causes.
func listenError(address string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = ": it is taken; stop what listens there or choose another address"
	case errors.Is(err, syscall.EACCES):
		advice = ": it needs more rights; choose a port from 1024 up or a folder that can be written"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = ": this machine has no such address"
	}
	return fmt.Errorf("listening on %s: %w%s", address, err, advice)
}

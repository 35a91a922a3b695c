package handover

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
)

const (
	keysVariable = "GATEHOUSE_HANDOVER" // the keys of the sockets, separated by newlines
	firstFile    = 3                    // of what a process inherits, behind the standard streams
	ready        = "ready\n"            // what a process that serves says; anything else is why it doesn't
)

// Inheritance is what this process got from the one that started it. The zero value is nothing.
type Inheritance struct {
	sockets map[string]*os.File // by key
	byName  map[string]*os.File // systemd's, by the name of the key's part before the space
	files   []*net.UnixListener // whose files the old process leaves to this one
	parent  io.WriteCloser      // nil: no old process waits
}

// Inherit takes what the environment, which lookup reads, says that there is. It must be called at most once in a process
// that has inherited anything, before it opens files of its own.
func Inherit(lookup func(string) (string, bool)) (*Inheritance, error) {
	i := &Inheritance{sockets: map[string]*os.File{}, byName: map[string]*os.File{}}
	if list, handed := lookup(keysVariable); handed {
		i.parent = os.NewFile(firstFile, "parent")
		for n, key := range strings.Split(list, "\n") {
			i.sockets[key] = os.NewFile(uintptr(firstFile+1+n), key)
		}
		return i, nil
	}
	pid, _ := lookup("LISTEN_PID")
	if pid != strconv.Itoa(os.Getpid()) { // they are for another process
		return i, nil
	}
	number, _ := lookup("LISTEN_FDS")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("LISTEN_FDS is %q: it should be a number of sockets", number)
	}
	list, _ := lookup("LISTEN_FDNAMES")
	names := strings.Split(list, ":")
	for k := range n {
		if k >= len(names) || names[k] == "" {
			return nil, fmt.Errorf("LISTEN_FDNAMES is %q: each of %d sockets needs a name", list, n)
		}
		i.byName[names[k]] = os.NewFile(uintptr(firstFile+k), names[k])
	}
	return i, nil
}

// Key is the key of the socket that listens on address for what name says: a setting. With another address it isn't the
// same socket.
func Key(name, address string) string { return name + " " + address }

// Listener is the listener that was inherited for a setting, nil when there is none. systemd's have the setting's name,
// whatever the address is.
func (i *Inheritance) Listener(name, address string) (net.Listener, error) {
	key := Key(name, address)
	file, from := i.sockets[key], i.sockets
	if file == nil {
		key, file, from = name, i.byName[name], i.byName
	}
	if file == nil {
		return nil, nil
	}
	delete(from, key)
	listener, err := net.FileListener(file)
	err = errors.Join(err, file.Close()) // the listener has a descriptor of its own
	if err != nil {
		return nil, fmt.Errorf("the inherited socket for %s: %w", key, err)
	}
	if unix, ok := listener.(*net.UnixListener); ok && i.parent != nil { // systemd's file is systemd's
		i.files = append(i.files, unix)
	}
	return listener, nil
}

// HandedOver says whether an old process waits for Ready or Failed.
func (i *Inheritance) HandedOver() bool { return i.parent != nil }

// Ready tells the old process that this one serves, and closes what nobody asked for. The old process stops accepting.
func (i *Inheritance) Ready() error {
	for _, socket := range i.files {
		socket.SetUnlinkOnClose(true)
	}
	return i.say(ready)
}

// Failed tells the old process why this one doesn't serve; after Ready it does nothing.
func (i *Inheritance) Failed(cause error) { _ = i.say(cause.Error()) } // the exit code says it, too

func (i *Inheritance) say(text string) error {
	for _, files := range []map[string]*os.File{i.sockets, i.byName} {
		for key, file := range files {
			delete(files, key)
			_ = file.Close()
		}
	}
	if i.parent == nil {
		return nil
	}
	_, err := io.WriteString(i.parent, text)
	err = errors.Join(err, i.parent.Close())
	i.parent = nil
	if err != nil {
		return fmt.Errorf("telling the old process: %w", err)
	}
	return nil
}

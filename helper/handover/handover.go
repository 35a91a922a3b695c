package handover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/cloudflare/tableflip"
	"github.com/coreos/go-systemd/v22/activation"
)

// managed is the address of sockets that the service manager opened, whatever address is configured.
const managed = ""

// Handover is what this process got from the one before it, and what the next one gets. The zero value is a process that
// gets nothing and gives nothing.
type Handover struct {
	upgrader *tableflip.Upgrader
	manager  map[string]*os.File // the service manager's sockets that nobody asked for yet, by name
	files    []*net.UnixListener // whose files the old process leaves to this one
	old      *os.File            // where the old process hears of this one; nil: none waits
}

// New takes what the process was started with. A new process has as long as timeout until it must serve. It is called once
// in a process, before anything else opens files.
func New(timeout time.Duration) (*Handover, error) {
	upgrader, err := tableflip.New(tableflip.Options{UpgradeTimeout: timeout})
	if err != nil {
		return nil, fmt.Errorf("taking over from the old process: %w", err)
	}
	h := &Handover{upgrader: upgrader, manager: map[string]*os.File{}}
	if upgrader.HasParent() {
		h.old, err = upgrader.File(wordsFile)
		return h, err
	}
	for _, file := range activation.Files(true) {
		if strings.HasPrefix(file.Name(), "LISTEN_FD_") { // what the library calls it
			return nil, errors.New("the service manager's sockets: one of them needs a name, such as FileDescriptorName=server.listen")
		}
		h.manager[file.Name()] = file
	}
	return h, nil
}

// Listener is the listener that was inherited for a setting, nil when there is none: with another address it isn't the same
// socket, unless the service manager opened it under the setting's name.
func (h *Handover) Listener(name, address string) (net.Listener, error) {
	if h.upgrader == nil {
		return nil, nil
	}
	if file := h.manager[name]; file != nil {
		delete(h.manager, name)
		listener, err := net.FileListener(file)
		if err = errors.Join(err, file.Close()); err != nil { // the listener has a descriptor of its own
			return nil, fmt.Errorf("the service manager's socket for %s: %w", name, err)
		}
		return listener, h.keep(name, managed, listener)
	}
	for _, at := range []string{managed, address} {
		listener, err := h.upgrader.Listener(name, at)
		if err != nil {
			return nil, fmt.Errorf("the inherited socket for %s: %w", name, err)
		}
		if listener == nil {
			continue
		}
		if unix, ok := listener.(*net.UnixListener); ok && at != managed {
			h.files = append(h.files, unix)
		}
		return listener, nil
	}
	return nil, nil
}

// Add has a listener that this process opened for a setting handed to the next one.
func (h *Handover) Add(name, address string, listener net.Listener) error {
	if h.upgrader == nil {
		return nil
	}
	if err := h.keep(name, address, listener); err != nil {
		return err
	}
	if unix, ok := listener.(*net.UnixListener); ok { // tableflip would remove the file before the listener is closed
		unix.SetUnlinkOnClose(true)
	}
	return nil
}

func (h *Handover) keep(name, address string, listener net.Listener) error {
	socket, ok := listener.(tableflip.Listener)
	if !ok {
		return fmt.Errorf("handing over %s: a %T can't be", name, listener)
	}
	if err := h.upgrader.AddListener(name, address, socket); err != nil {
		return fmt.Errorf("handing over %s: %w", name, err)
	}
	return nil
}

// HandedOver says whether there is an old process, which waits for Ready or Failed.
func (h *Handover) HandedOver() bool { return h.upgrader != nil && h.upgrader.HasParent() }

// Ready tells the old process that this one serves, and closes what nobody asked for. The old process stops accepting.
// From now on this one can be upgraded.
func (h *Handover) Ready() error {
	if h.upgrader == nil {
		return nil
	}
	for name, file := range h.manager {
		delete(h.manager, name)
		_ = file.Close()
	}
	for _, socket := range h.files {
		socket.SetUnlinkOnClose(true)
	}
	h.say(words{PID: os.Getpid()})
	if err := h.upgrader.Ready(); err != nil {
		return fmt.Errorf("telling the old process: %w", err)
	}
	return nil
}

// Failed tells the old process why this one doesn't serve; after Ready it does nothing.
func (h *Handover) Failed(cause error) { h.say(words{Problem: cause.Error()}) }

// WaitForOld waits until the old process, if there is one, has ended, or returns ctx's error.
func (h *Handover) WaitForOld(ctx context.Context) error {
	if h.upgrader == nil {
		return nil
	}
	return h.upgrader.WaitForParent(ctx)
}

// Upgrade starts a process that gets the sockets, waits until it serves, and returns its id. It starts the program that is
// now where this one was started from, with the same arguments.
func (h *Handover) Upgrade() (pid int, err error) {
	if h.upgrader == nil {
		return 0, errors.New("this process can't be upgraded")
	}
	heard, told, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("starting a new process: %w", err)
	}
	defer heard.Close() //nolint:errcheck // it was only read
	err = h.upgrader.AddFile(wordsFile, told)
	if err = errors.Join(err, told.Close()); err != nil { // the upgrader has a descriptor of its own
		return 0, fmt.Errorf("starting a new process: %w", err)
	}
	err = h.upgrader.Upgrade()
	said := hear(heard)
	switch {
	case err != nil && said.Problem != "":
		return 0, fmt.Errorf("the new process: %s (%w)", said.Problem, err)
	case err != nil:
		return 0, fmt.Errorf("the new process: %w", err)
	}
	return said.PID, nil
}

// Stop ends what Upgrade does, if it still does it, and lets go of the sockets: what is left open would take connections that
// nobody accepts. There is no upgrade after it.
func (h *Handover) Stop() {
	if h.upgrader != nil {
		h.upgrader.Stop()
		<-h.upgrader.Exit()
	}
}

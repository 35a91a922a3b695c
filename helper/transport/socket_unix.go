//go:build unix

package transport

import (
	"net"
	"os"
	"syscall"
)

// good says whether an unused connection can be used: the backend has neither
// closed it nor sent anything, which nobody asked for. It doesn't wait.
func (c *link) good() bool {
	if c.raw == nil {
		return true
	}
	if c.peek == nil {
		c.peek = c.look // made once: it would be allocated for each request
	}
	c.quiet = false
	// Control, because Read would fail on a deadline that is over.
	return c.raw.Control(c.peek) == nil && c.quiet
}

func (c *link) look(fd uintptr) {
	_, _, err := syscall.Recvfrom(int(fd), c.peeked[:], syscall.MSG_PEEK)
	c.quiet = err == syscall.EAGAIN // it comes from the system call
}

// asks says whether send finds out by itself whether the connection is good.
func (c *link) asks() bool { return c.raw != nil && c.tls == nil }

// send writes a request. Without TLS it also waits until there is something to read,
// or the reads' deadline is over: to read at once would be a system call for nothing.
// All of it is done as one read of the socket, because the runtime tells a reader only
// of what comes from the beginning of its read on; what came before is looked at there.
func (c *link) send(text []byte) (n int, err error) {
	if !c.asks() {
		return c.net.Write(text)
	}
	if c.ask == nil {
		c.ask = c.write // made once, too
	}
	c.text, c.sent, c.wrote, c.failed = text, 0, false, nil
	_ = c.raw.Read(c.ask) // the read that follows fails in the same way
	c.text = nil
	if c.failed != nil {
		return c.sent, c.failed
	}
	if c.sent < len(text) {
		n, err = c.net.Write(text[c.sent:])
	}
	return c.sent + n, err
}

// write says whether there is nothing to wait for.
func (c *link) write(fd uintptr) bool {
	if c.wrote {
		return true
	}
	c.wrote = true
	if c.reused {
		if c.look(fd); !c.quiet {
			c.failed = errClosed
			return true
		}
	}
	n, err := syscall.Write(int(fd), c.text)
	c.sent = max(n, 0)
	switch err {
	case nil, syscall.EAGAIN, syscall.EINTR:
		return c.sent < len(c.text)
	}
	c.failed = &net.OpError{Op: "write", Net: "tcp", Source: c.net.LocalAddr(), Addr: c.net.RemoteAddr(), Err: os.NewSyscallError("write", err)}
	return true
}

//go:build unix

package transport

import "syscall"

// good says whether an unused connection can be used: the backend has neither
// closed it nor sent anything, which nobody asked for. It doesn't wait.
func (c *link) good() bool {
	if c.raw == nil {
		return true
	}
	c.quiet = false
	if c.peek == nil {
		c.peek = func(fd uintptr) { // made once: it would be allocated for each request
			_, _, err := syscall.Recvfrom(int(fd), c.peeked[:], syscall.MSG_PEEK)
			c.quiet = err == syscall.EAGAIN // it comes from the system call
		}
	}
	// Control, because Read would fail on a deadline that is over.
	return c.raw.Control(c.peek) == nil && c.quiet
}

package transport

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// conn is a connection that remembers whether its peer has ended it: net/http's
// error about a header that isn't whole doesn't tell whether the rest was missing
// or wrong.
type conn struct {
	net.Conn
	ended atomic.Bool
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) { // those are the gateway's own doing
		c.ended.Store(true)
	}
	return n, err
}

// CloseWrite ends one direction, for an upgraded connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SyscallConn gives access to the socket, for the look at an unused connection.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if socket, ok := c.Conn.(syscall.Conn); ok {
		return socket.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// Ended says whether the backend has ended a connection that a transport of this
// package made, and the end was read. An orderly end of TLS alone isn't noticed.
func Ended(connection net.Conn) bool {
	if secure, ok := connection.(*tls.Conn); ok {
		connection = secure.NetConn()
	}
	c, ok := connection.(*conn)
	return ok && c.ended.Load()
}

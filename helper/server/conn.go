package server

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// patience is how long a request may take before its client is watched: most are answered sooner.
const patience = 10 * time.Millisecond

// Conn is a client's connection over which HTTP/1 comes without TLS. net/http reads one byte behind each request on a
// goroutine of its own, to find out that the client has left, and breaks that off with two deadlines when the request is
// answered. Conn gives that read nothing, so that it ends at once, and watches the client of a request itself, but only of
// one that takes longer than most. It also moves deadlines only when they have to be moved.
//
// Methods of net.Conn may be called as for any other; Watch and Unwatch by the goroutine that serves the request.
type Conn struct {
	net.Conn
	arrival
	raw   syscall.RawConn
	read  deadline
	write deadline

	mu      sync.Mutex
	between int           // 2: a request is over; 1: net/http waits for the next one; 0: it reads one, or may have some of it
	framing framing       // of the request that is being read, or has been
	whole   bool          // the request has been read: the last read was net/http's for the byte behind it
	shut    bool          // by Close
	gone    func()        // nil: nobody watches
	timer   *time.Timer   // for look; nil: there was no need yet
	looking chan struct{} // closed when look is over; nil: it doesn't run
}

func newConn(accepted net.Conn) net.Conn {
	socket, ok := accepted.(syscall.Conn)
	if !ok {
		return accepted
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return accepted
	}
	c := &Conn{Conn: accepted, raw: raw, arrival: arrival{readable: true}, framing: framing{known: true}} // nothing was read before
	c.served(true)
	c.read.move, c.write.move = accepted.SetReadDeadline, accepted.SetWriteDeadline
	return c
}

// connListener makes its connections a Conn.
type connListener struct{ net.Listener }

func (l connListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newConn(accepted), nil
}

type connKey struct{}

// ConnOf returns the connection that the request of ctx came by; nil where it isn't a Conn.
func ConnOf(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// withConn is an http.Server's ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*Conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Watch has gone called, on any goroutine and perhaps twice, when the client closes the connection or it breaks, until Unwatch. A client
// that leaves is noticed within some 10 ms, or when it happens if the request has taken longer; where its body is still to
// be read, or it has sent another request already, when a read or a write fails.
func (c *Conn) Watch(gone func()) {
	c.mu.Lock()
	c.gone = gone
	c.lookLater()
	shut := c.shut
	c.mu.Unlock()
	if shut { // before there was anybody to tell
		gone()
	}
}

// Unwatch ends a Watch. The function may still be called, if the connection has ended.
func (c *Conn) Unwatch() {
	c.mu.Lock()
	c.framing.known = false // the next header may have come with this one
	c.gone = nil
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.endLook()
}

// lookLater needs c.mu.
func (c *Conn) lookLater() {
	switch {
	case c.gone == nil || !c.whole || c.looking != nil:
	case c.timer == nil:
		c.timer = time.AfterFunc(patience, c.look)
	default:
		c.timer.Reset(patience)
	}
}

// look waits until the client has closed the connection, has sent another request, or endLook.
func (c *Conn) look() {
	c.mu.Lock()
	if c.gone == nil || !c.whole || c.looking != nil {
		c.mu.Unlock()
		return
	}
	done := make(chan struct{})
	c.looking = done
	c.mu.Unlock()

	closed := c.closed()

	c.mu.Lock()
	gone := c.gone
	c.looking = nil
	c.mu.Unlock()
	close(done)
	if closed && gone != nil {
		gone()
	}
}

// endLook returns when look doesn't run. Only then can the connection be read.
func (c *Conn) endLook() {
	c.mu.Lock()
	looking := c.looking
	c.mu.Unlock()
	if looking == nil {
		return
	}
	c.read.interrupt()
	<-looking
	c.read.resume()
}

// closed waits until the connection can be read, and says whether it has ended.
func (c *Conn) closed() bool {
	var buffer [1]byte
	ended := false
	for {
		err := c.raw.Read(func(fd uintptr) bool {
			n, _, err := syscall.Recvfrom(int(fd), buffer[:], syscall.MSG_PEEK)
			for err == syscall.EINTR { // to wait for what is there already might be for ever
				n, _, err = syscall.Recvfrom(int(fd), buffer[:], syscall.MSG_PEEK)
			}
			ended = n <= 0
			return err != syscall.EAGAIN
		})
		switch {
		case err == nil:
			return ended
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return true
		case !c.read.lift():
			return false
		}
	}
}

// Read implements net.Conn. It may return 0, nil for a read of one byte.
func (c *Conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	nothing := len(p) == 1 && !c.whole
	c.whole = nothing
	if nothing {
		c.lookLater()
		c.mu.Unlock()
		return 0, nil
	}
	looking := c.looking != nil
	if c.between == 1 {
		c.framing = framing{known: true}
	}
	c.between = 0
	inHeader := c.framing.known && !c.framing.ended
	c.mu.Unlock()
	if looking {
		c.endLook()
	}
	c.read.begin()
	defer c.read.end()
	for {
		n, err := c.Conn.Read(p)
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if late && n == 0 && !c.read.over() {
			continue
		}
		if err != nil && !late {
			c.tell()
		}
		c.came(p[:n])
		if inHeader {
			c.mu.Lock()
			c.framing.see(p[:n])
			c.mu.Unlock()
		}
		return n, err
	}
}

// Framing is that of the request which is being served; its handler asks before it reads the body, and before Unwatch.
func (c *Conn) Framing() Framing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.framing.is()
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.write.begin()
	defer c.write.end()
	for written := 0; ; {
		n, err := c.Conn.Write(p[written:])
		written += n
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if late && !c.write.over() {
			continue
		}
		if err != nil && !late {
			c.tell()
		}
		return written, err
	}
}

// Close implements net.Conn. Whoever watches is told.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.mu.Lock()
	c.shut = true
	c.mu.Unlock()
	c.tell()
	return err
}

// tell tells whoever watches that the connection has ended.
func (c *Conn) tell() {
	c.mu.Lock()
	gone := c.gone
	c.mu.Unlock()
	if gone != nil {
		gone()
	}
}

// CloseWrite ends the connection in one direction, as net/http does before it closes it.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn. On a closed connection it needn't fail.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	c.between = max(0, c.between-1)
	c.mu.Unlock()
	return c.read.set(t)
}

// idle is called between two requests. Then net/http sets a read deadline, waits for the next request where it has less than
// four bytes of it, which are no line of its header, and sets another deadline. Only the read in between begins a header.
func (c *Conn) idle() {
	c.mu.Lock()
	c.between = 2
	c.mu.Unlock()
}

// SetWriteDeadline implements net.Conn. On a closed connection it needn't fail.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.write.set(t) }

package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"syscall"
	"time"
)

// link is a connection of a lane. It belongs to one request at a time, but for
// abort.
type link struct {
	lane  *Lane
	net   net.Conn
	raw   syscall.RawConn // of the socket; nil when that can't be had
	in    *bufio.Reader   // reads the conn itself
	tls   *tls.ConnectionState
	abort func() // makes every read and write fail from now on; any goroutine

	ctx       context.Context // of the request
	allowance int64           // bytes that may still be read
	reading   bool            // the header of an answer, until the deadline
	deadline  time.Time       // of the reads, as it was last set
	reused    bool
	since     time.Time // unused

	peek   func(fd uintptr) // sets quiet
	peeked [1]byte
	quiet  bool // the backend has neither closed the connection nor sent anything

	ask    func(fd uintptr) bool // sends text
	text   []byte
	sent   int   // bytes of text
	wrote  bool  // it was tried
	failed error // it can't be sent
}

// staleError is a kept-alive connection that the backend was closing.
type staleError struct {
	error
	unwritten bool // no byte of the request went out
}

func (e *staleError) Unwrap() error { return e.error }

var (
	errClosed         = fmt.Errorf("reading the answer: the backend closed the connection: %w", io.EOF)
	errHeaderTooLarge = fmt.Errorf("reading the answer: its header has more than %d bytes", maxResponseHeader)
)

// dial makes a connection, with TLS for https.
func (l *Lane) dial(ctx context.Context) (*link, error) {
	socket, err := l.options.dial()(ctx, "tcp", l.address)
	if err != nil {
		return nil, err
	}
	c := &link{lane: l, net: socket}
	if s, ok := socket.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn() // nil: it counts as good
	}
	if l.target.Scheme == "https" {
		if err := c.handshake(ctx); err != nil {
			_ = socket.Close() // the handshake's error says more
			return nil, err
		}
	}
	c.in = bufio.NewReader(c)
	c.abort = func() { _ = c.net.SetDeadline(time.Unix(1, 0)) }
	return c, nil
}

// handshake offers HTTP/1.1 alone: that is what the backend chose when it could
// have had HTTP/2.
func (c *link) handshake(ctx context.Context) error {
	config := &tls.Config{}
	if c.lane.options.TLS != nil {
		config = c.lane.options.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = c.lane.target.Hostname()
	}
	config.NextProtos = []string{"http/1.1"}
	if limit := c.lane.options.Connect; limit > 0 {
		_ = c.net.SetDeadline(time.Now().Add(limit))
		defer c.net.SetDeadline(time.Time{}) //nolint:errcheck // the next read would say so
	}
	secure := tls.Client(c.net, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	state := secure.ConnectionState()
	c.net, c.tls = secure, &state
	return nil
}

// roundTrip sends text, which is the request, and reads the header of the answer.
// After an error the connection is closed.
func (c *link) roundTrip(t *trip, text []byte) (*http.Response, error) {
	t.progress.Written() // or is about to be: nobody may take it for unwritten
	c.ctx = t.Context()
	a := &answer{conn: c, watch: t.watch}
	a.begin()
	res, err := c.exchange(t, text)
	if err != nil {
		a.stop()
		c.close()
		return nil, err
	}
	a.body, a.last = res.Body, res.Close || res.StatusCode <= 199
	if res.Body == nil { // it is plain
		a.fixed = fixedBody{in: c.in, left: res.ContentLength}
		a.body = &a.fixed
	}
	if res.Body == http.NoBody || res.Body == nil && res.ContentLength == 0 {
		res.Body = http.NoBody
		a.end(true)
		return res, nil
	}
	res.Body = a
	return res, nil
}

func (c *link) exchange(t *trip, text []byte) (*http.Response, error) {
	c.startHeader()
	if n, err := c.send(text); err != nil {
		// The backend may have answered before it closed; but a request that wasn't
		// written whole has no answer that is worth waiting for.
		return nil, c.stale(err, n == 0)
	}
	if _, err := c.in.Peek(1); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
		if err == io.EOF { // as it comes from the connection
			err = errClosed
		}
		return nil, c.stale(err, false)
	}
	if t.trace != nil && t.trace.GotFirstResponseByte != nil {
		t.trace.GotFirstResponseByte()
	}
	res, err := c.readHeader(t)
	if err != nil {
		if c.allowance <= 0 {
			err = errHeaderTooLarge
		}
		return nil, err
	}
	c.reading = false
	res.TLS = c.tls
	return res, nil
}

// readHeader reads up to the header of the final answer. It makes no Body for one
// that is plain.
func (c *link) readHeader(t *trip) (*http.Response, error) {
	for {
		if res, fields := readPlain(c.in, t.Request); res != nil {
			t.tell(res, fields)
			return res, nil
		}
		res, err := http.ReadResponse(c.in, t.Request)
		if err != nil {
			return nil, err
		}
		if res.StatusCode < 100 || res.StatusCode > 199 || res.StatusCode == http.StatusSwitchingProtocols {
			return res, nil
		}
		if t.trace != nil && t.trace.Got1xxResponse != nil {
			if err := t.trace.Got1xxResponse(res.StatusCode, textproto.MIMEHeader(res.Header)); err != nil {
				return nil, err
			}
			c.allowance = maxResponseHeader // who sees them limits them; as net/http does
		}
	}
}

// stale marks the error of a connection that was in use before.
func (c *link) stale(err error, unwritten bool) error {
	if !c.reused {
		return err
	}
	return &staleError{err, unwritten}
}

// startHeader sets the limits for the header of an answer. The deadline of the
// request before is left standing when it is late enough: to move it costs more
// than all the rest of this.
func (c *link) startHeader() {
	c.allowance, c.reading = maxResponseHeader, true
	limit := c.lane.options.ResponseHeader
	if limit <= 0 {
		return
	}
	now := time.Now()
	if c.deadline.Before(now.Add(limit)) {
		c.setDeadline(now.Add(limit + limit/10))
	}
}

// setDeadline moves the deadline of the reads, unless the request has ended: then
// the one that abort set stands, or is about to be set.
func (c *link) setDeadline(t time.Time) {
	c.deadline = t
	_ = c.net.SetReadDeadline(t)
	if c.ctx.Err() != nil {
		c.abort()
	}
}

// Read reads from the connection for in: a header up to the limits, a body
// without.
func (c *link) Read(p []byte) (int, error) {
	if c.reading {
		if c.allowance <= 0 {
			return 0, errHeaderTooLarge
		}
		p = p[:min(int64(len(p)), c.allowance)]
	}
	for {
		n, err := c.net.Read(p)
		if c.reading {
			c.allowance -= int64(n)
			return n, err
		}
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || c.ctx.Err() != nil {
			return n, err
		}
		c.setDeadline(time.Time{}) // it was for the header
	}
}

// done gives the connection back, or closes it.
func (c *link) done(good bool) {
	c.ctx, c.reused = nil, true
	if !good || c.more() || !c.lane.idle.put(c) {
		c.close()
	}
}

// more says whether more than the answer has come. crypto/tls reads past what it is
// asked for: the rest of a record, another one, or the end may be neither in the socket
// nor in c.in. A read whose deadline is over gets what there is, and waits for nothing.
func (c *link) more() bool {
	if c.in.Buffered() > 0 || c.tls == nil {
		return c.in.Buffered() > 0
	}
	_ = c.net.SetReadDeadline(time.Unix(1, 0))
	_, err := c.net.Read(c.peeked[:])
	_ = c.net.SetReadDeadline(c.deadline)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func (c *link) close() { _ = c.net.Close() }

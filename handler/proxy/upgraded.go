package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/helper/problem"
)

// closeTime is how long a client has to answer a close frame. It is less than
// the server waits for the requests that it cuts.
const closeTime = 500 * time.Millisecond

// goingAway is a close frame with the status 1001 (RFC 6455 sections 5.5.1 and
// 7.4.1), from a server, so without a mask.
const goingAway = "\x88\x02\x03\xe9"

// upgradedBody is the backend's side of an upgraded connection, which is a
// WebSocket: httputil looks for both directions in the body of a 101. Two
// goroutines use it, and one of them may outlive the handler.
//
// When the gateway cuts the connection because it ends, the client is told so by
// a close frame, as if it came from the backend: what was relayed stays a valid
// stream that way. Where the backend's last frame isn't whole, none is added.
type upgradedBody struct {
	io.ReadWriteCloser
	call    *call
	in, out atomic.Int64 // from and to the client

	sent      frames // what the client got; used by Read alone
	farewell  bool   // it got the gateway's close frame; likewise
	answered  chan struct{}
	answering sync.Once // closes answered: the client has answered the close frame, or left
}

func newUpgradedBody(backend io.ReadWriteCloser, c *call) *upgradedBody {
	return &upgradedBody{ReadWriteCloser: backend, call: c, answered: make(chan struct{})}
}

// cut says whether the gateway has cut the connection because it ends.
func (b *upgradedBody) cut() bool {
	return b.call.ctx.Err() != nil && b.call.cutCode(nil) == problem.Draining
}

func (b *upgradedBody) Read(p []byte) (int, error) {
	if b.farewell {
		b.awaitAnswer()
		return 0, net.ErrClosed
	}
	n, err := b.ReadWriteCloser.Read(p)
	b.sent.follow(p[:n])
	if n == 0 && err != nil && b.cut() && b.sent.mayClose() && len(p) >= len(goingAway) {
		n, err = copy(p, goingAway), nil
		b.farewell = true
	}
	b.out.Add(int64(n))
	b.call.watch.touch()
	return n, err
}

// awaitAnswer leaves the client time to answer the close frame. A connection that
// is closed with unread bytes is reset, and the client might lose the frame.
func (b *upgradedBody) awaitAnswer() {
	timeout := time.NewTimer(closeTime)
	defer timeout.Stop()
	select {
	case <-b.answered:
	case <-timeout.C:
	}
}

// Write passes on what the client sends; after the connection was cut it only
// looks for the answer to the close frame.
func (b *upgradedBody) Write(p []byte) (int, error) {
	if b.cut() {
		return b.discard(p), nil
	}
	n, err := b.ReadWriteCloser.Write(p)
	b.in.Add(int64(n))
	b.call.watch.touch()
	if err != nil && b.cut() {
		return b.discard(p), nil
	}
	return n, err
}

// discard takes what the client sends too late. A piece that begins like a close
// frame is taken for one: a mistake only shortens the wait.
func (b *upgradedBody) discard(p []byte) int {
	if len(p) > 0 && p[0]&opcodeBits == opcodeClose {
		b.answering.Do(func() { close(b.answered) })
	}
	return len(p)
}

// CloseWrite passes on that the client sends nothing more; the backend may still
// have something to say.
func (b *upgradedBody) CloseWrite() error {
	b.answering.Do(func() { close(b.answered) })
	half, ok := b.ReadWriteCloser.(interface{ CloseWrite() error })
	if b.cut() {
		return nil // the other direction ends the connection
	}
	if !ok {
		return errors.ErrUnsupported // the connection ends as a whole
	}
	return half.CloseWrite()
}

//go:build unix

package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
)

// A request that the socket takes only in parts goes out whole, and one for which the
// connection is gone not at all.
func TestARequestThatDoesNotFitTheSocket(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	socket := dialed.(*net.UnixConn)
	if err := socket.SetWriteBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	backend, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	c := &link{net: socket}
	if c.raw, err = socket.SyscallConn(); err != nil {
		t.Fatal(err)
	}

	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	got := make(chan []byte)
	go func() {
		buffer := make([]byte, len(text))
		n, _ := io.ReadFull(backend, buffer)
		got <- buffer[:n]
	}()
	if n, err := c.send(text); n != len(text) || err != nil || c.sent == 0 || c.sent == len(text) {
		t.Errorf("sent %d, %v, of it %d at first", n, err, c.sent)
	}
	if seen := <-got; !bytes.Equal(seen, text) {
		t.Errorf("%d bytes arrived", len(seen))
	}

	c.reused = true
	if _, err := backend.Write([]byte("unasked")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.send(text); n != 0 || !errors.Is(err, errClosed) {
		t.Errorf("on a connection with an answer to nothing: sent %d, %v", n, err)
	}
}

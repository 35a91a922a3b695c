package servertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Refuses returns an address on the loopback that refuses connections until the
// test ends: its port is a connection's own, on which nobody can listen meanwhile.
func Refuses(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it accepts nothing
	// Its local address is given, so that no other connection gets the same port.
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}).Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	other, err := l.Accept() // else the listener's end is the connection's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	return conn.LocalAddr().String()
}

// Listen returns a listener on the loopback whose port no system hands out by
// itself: once it is closed, the port stays free for whoever knows it.
func Listen() (net.Listener, error) {
	// Ephemeral ports begin at 32768 (Linux) or 49152 (RFC 6335, section 6); a
	// redis-server in a Cluster also takes the port 10,000 above its own.
	const first, ports, tries = 10_000, 10_000, 100
	var all error
	for range tries {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(ports))))
		if err == nil {
			return l, nil
		}
		all = errors.Join(all, err)
	}
	return nil, fmt.Errorf("no free port in %d tries: %w", tries, all)
}

// FreePort returns a port for a server that is started by somebody else.
func FreePort() (int, error) {
	l, err := Listen()
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

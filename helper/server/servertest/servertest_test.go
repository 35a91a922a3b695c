package servertest_test

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"

	"gatehouse/helper/server/servertest"
)

func TestNobodyCanListenWhereConnectionsAreRefused(t *testing.T) {
	address := servertest.Refuses(t)
	if conn, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, %v", conn, err)
	}
	if l, err := net.Listen("tcp", address); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v, %v", l, err)
	}
}

func TestAFreePort(t *testing.T) {
	port, err := servertest.FreePort()
	if err != nil || port < 10_000 || port >= 20_000 {
		t.Fatalf("got %d, %v", port, err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

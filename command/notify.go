package command

import (
	"fmt"
	"net"
)

// notifyReady tells the service manager that started this process that it serves, as sd_notify(3) does: systemd holds back
// what is ordered after a unit of Type=notify until then. Without one it does nothing.
func (p Process) notifyReady(_, _ string) {
	if err := p.notify("READY=1"); err != nil {
		fmt.Fprintf(p.Stderr, "gatehouse: telling NOTIFY_SOCKET that it serves: %v\n", err)
	}
}

func (p Process) notify(state string) error {
	socket, _ := p.LookupEnv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"}) // a name with @ is an abstract one
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // what counts is whether the message was written
	_, err = conn.Write([]byte(state))
	return err
}

package command

import (
	"fmt"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifyReady tells the service manager that started this process that it serves: systemd holds back what is ordered after a
// unit of Type=notify until then. Without one it does nothing.
func (p Process) notifyReady(_, _ string) {
	if err := notify(daemon.SdNotifyReady); err != nil {
		p.say(fmt.Sprintf("telling NOTIFY_SOCKET that it serves: %v", err))
	}
}

func notify(state string) error {
	_, err := daemon.SdNotify(false, state)
	return err
}

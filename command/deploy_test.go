package command

import (
	"os"
	"strings"
	"testing"

	"gatehouse/helper/config"
)

// The config of the Kubernetes base is right, and there is nothing to warn of.
func TestKubernetesConfig(t *testing.T) {
	env := func(name string) (string, bool) { return "a token", name == "GATEHOUSE_ADMIN_TOKEN" }
	cfg, warnings, err := config.Review("../deploy/kubernetes/config.yaml", env)
	if err != nil || len(warnings) > 0 || cfg.Server.AdminToken == "" {
		t.Errorf("got %v, %v", err, warnings)
	}
}

// What the systemd unit starts is a command line that is understood.
func TestSystemdUnit(t *testing.T) {
	unit, err := os.ReadFile("../deploy/systemd/gatehouse.service")
	if err != nil {
		t.Fatal(err)
	}
	_, line, ok := strings.Cut(string(unit), "\nExecStart=/usr/local/bin/gatehouse ")
	line, _, _ = strings.Cut(line, "\n")
	if code, _, stderr := call(t, append(strings.Fields(line), "--help")...); !ok || code != 0 {
		t.Errorf("%q: got %d: %s", line, code, stderr)
	}
	if !strings.Contains(string(unit), "\nType=notify\n") {
		t.Error("systemd isn't told to wait until it serves")
	}
}

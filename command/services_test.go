package command

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// threePorts finds three free ports in a row.
func threePorts(t *testing.T) int {
	t.Helper()
	for from := 20_001; from < 30_000; from += 3 {
		var listeners []net.Listener
		for i := range 3 {
			if listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(from+i))); err == nil {
				listeners = append(listeners, listener)
			}
		}
		free := len(listeners) == 3
		if err := closeAll(listeners); err != nil {
			t.Fatal(err)
		}
		if free {
			return from
		}
	}
	t.Fatal("there are no three free ports in a row")
	return 0
}

// A gateway in another container needs the services' ports, the issuer that the shipped config names, and its key.
func TestServicesWithoutAGateway(t *testing.T) {
	from, key := threePorts(t), filepath.Join(t.TempDir(), "identity.pem")
	r := startProcess(t, Process{Args: []string{"demo", "services", "--ports-from", strconv.Itoa(from), "--public-key", key}})
	r.stdout.waitFor(t, "the key: "+key+"\n")

	issuer := "http://" + net.JoinHostPort(loopback, strconv.Itoa(from+2))
	if code, _, stderr := call(t, "health", "--admin", issuer); code != fine {
		t.Errorf("health: %d %s", code, stderr)
	}
	raw := fetch(t, issuer+"/token?user=ada&scope=order&format=raw")
	if subject, err := verifyIssued(t, key, issuer, strings.TrimSpace(raw)); err != nil || subject != "ada" {
		t.Errorf("its token is for %q: %v", subject, err)
	}
	if code, _, stderr := call(t, "demo", "services", "--ports-from", strconv.Itoa(from), "--public-key", key+".other"); code != inputWrong || !strings.Contains(stderr, "--ports-from") {
		t.Errorf("with taken ports: %d %s", code, stderr)
	}
	if _, err := os.Stat(key + ".other"); err == nil {
		t.Error("it wrote a key though it doesn't serve")
	}
	if code := r.end(t); code != fine {
		t.Errorf("exit code %d", code)
	}
}

package command

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
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
	response, err := http.Get(issuer + "/token?user=ada&scope=order&format=raw")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	raw, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	keys, err := keyset.LoadPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := token.NewVerifier([]token.Provider{{Name: "identity", Issuer: issuer, Audiences: []string{"gateway"},
		Algorithms: []string{"ES256"}, Source: keyset.NewSet(keys...)}})
	if err != nil {
		t.Fatal(err)
	}
	caller, err := verifier.Verify(t.Context(), strings.TrimSpace(string(raw)), "")
	if err != nil || caller.Subject != "ada" {
		t.Errorf("its token is for %q: %v", caller.Subject, err)
	}
	if code, _, stderr := call(t, "demo", "services", "--ports-from", strconv.Itoa(from), "--public-key", key+".other"); code != inputWrong || !strings.Contains(stderr, "--ports-from") {
		t.Errorf("with taken ports: %d %s", code, stderr)
	}
	if _, err := os.Stat(key + ".other"); err == nil {
		t.Error("it wrote a key though it doesn't serve")
	}
	r.interrupt()
	if code := r.end(t); code != fine {
		t.Errorf("exit code %d", code)
	}
}

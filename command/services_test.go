package command

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// fourPorts finds four free ports in a row.
func fourPorts(t *testing.T) int {
	t.Helper()
	for from := 20_001; from < 30_000; from += 4 {
		var listeners []net.Listener
		for i := range 4 {
			if listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(from+i))); err == nil {
				listeners = append(listeners, listener)
			}
		}
		free := len(listeners) == 4
		if err := closeAll(listeners); err != nil {
			t.Fatal(err)
		}
		if free {
			return from
		}
	}
	t.Fatal("there are no four free ports in a row")
	return 0
}

// A gateway in another container needs the services' ports, the issuer that the shipped config names, and its key.
func TestServicesWithoutAGateway(t *testing.T) {
	from := fourPorts(t)
	const issuer = "http://identity.test" // what it is called elsewhere
	r := startProcess(t, Process{Args: []string{"demo", "services", "--ports-from", strconv.Itoa(from), "--issuer", issuer}})
	r.stdout.waitFor(t, "which is the issuer "+issuer+"\n")

	at := "http://" + net.JoinHostPort(loopback, strconv.Itoa(from+2))
	if code, _, stderr := call(t, "health", "--admin", at); code != fine {
		t.Errorf("health: %d %s", code, stderr)
	}
	defer http.DefaultClient.CloseIdleConnections()
	raw := fetch(t, at+"/token?user=ada&scope=order&format=raw")
	keys, _, err := keyset.ParseJWKS(fetch(t, at+"/.well-known/jwks.json"))
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
	if code, _, stderr := call(t, "demo", "services", "--ports-from", strconv.Itoa(from)); code != inputWrong || !strings.Contains(stderr, "--ports-from") {
		t.Errorf("with taken ports: %d %s", code, stderr)
	}
	r.interrupt()
	if code := r.end(t); code != fine {
		t.Errorf("exit code %d", code)
	}
}

func fetch(t *testing.T, url string) []byte {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return body
}

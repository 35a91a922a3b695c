package command

import (
	"log"
	"os"
	"strings"
	"testing"
)

// What a library prints is a line of the gateway's log, as long as that is open.
func TestTheStandardLogIsTheGatewaysLog(t *testing.T) {
	s := newService(t)
	r := startProcess(t, Process{Args: s.serveFlags(), LookupEnv: os.LookupEnv, OwnsLog: true})
	r.addresses(t)
	log.Print("Unsolicited response received on idle HTTP channel")
	line := r.stdout.waitFor(t, "Unsolicited response")
	line = line[strings.LastIndex(strings.TrimSuffix(line, "\n"), "\n")+1:]
	if !strings.HasPrefix(line, `{"level":"warn"`) || !strings.Contains(line, `"msg":"Unsolicited response received on idle HTTP channel"`) {
		t.Errorf("the line is %s", line)
	}
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
	if log.Writer() != os.Stderr {
		t.Error("the standard log isn't given back")
	}
}

package command

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/helper/config"
)

func TestDiff(t *testing.T) {
	before := file(t, "old.yaml", minimal+"  user: {url: http://127.0.0.1:9002, route: {auth: none}}\n")
	after := file(t, "new.yaml", "server: {listen: ':80'}\nlog: {level: debug}\n"+
		strings.Replace(minimal, "9001", "9009", 1)+"  cart: {url: http://127.0.0.1:9003, route: {auth: none}}\n")
	tests := []struct {
		name   string
		args   []string
		code   int
		stdout string
	}{
		{"a file and itself", []string{before, before}, 0, "no difference\n0 added, 0 changed, 0 removed, 4 kept\n"},
		{"two files", []string{before, after}, 0, `added    upstream cart
added    route /cart
changed  upstream order: backends
removed  upstream user
removed  route /user
set      log.level
restart  server.listen: only a restart applies it
2 added, 1 changed, 2 removed, 1 kept, 2 of the settings
`},
		{"a file with a mistake", []string{before, file(t, "bad.yaml", "sever: {}\n")}, 1, ""},
		{"a file that isn't there", []string{"missing.yaml", before}, 1, ""},
		{"one file", []string{before}, 2, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"diff"}, test.args...)...)
			if code != test.code || stdout != test.stdout || (stderr == "") != (code == 0) {
				t.Errorf("got %d\n%s%s\nwant %d\n%s", code, stdout, stderr, test.code, test.stdout)
			}
		})
	}
	code, stdout, stderr := call(t, "diff", "--json", before, after)
	var changes config.Changes
	if err := json.Unmarshal([]byte(stdout), &changes); err != nil || code != 0 || len(changes.Added) != 2 || len(changes.Restart) != 1 {
		t.Errorf("got %d %s%s (%v)", code, stdout, stderr, err)
	}
}

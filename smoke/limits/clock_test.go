package limits

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/limit/redis/redistest"
)

// shift is the environment variable that says by how much a gateway's clock is wrong.
const shift = "GATEHOUSE_CLOCK_SHIFT"

// shifted is what stands in the place of the two lines in package time, and reads the variable; the monotonic clock stays.
const (
	nowCall = "\nfunc Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	shifted = `
var wallShift = func() int64 {
	text, _ := syscall.Getenv("` + shift + `")
	shift, _ := ParseDuration(text)
	return int64(shift / Second)
}()
` + nowCall + "\tsec += wallShift\n"
	imports, syscalled = "\nimport (\n", "\nimport (\n\t\"syscall\"\n"
)

// compileShifted builds a gateway whose wall clock is wrong by what its environment says: with a copy of Go's own package
// time that differs in that alone.
func compileShifted(t *testing.T) (binary string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for old, replacement := range map[string]string{nowCall: shifted, imports: syscalled} {
		if strings.Count(changed, old) != 1 {
			t.Fatalf("%s has no one place with %q: it is another than this test knows", original, old)
		}
		changed = strings.Replace(changed, old, replacement, 1)
	}
	write := func(name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: write("time.go", []byte(changed))}})
	if err != nil {
		t.Fatal(err)
	}
	// It takes a minute the first time, for all that imports time: with one process, or the tests of other packages suffer.
	if err := compile("shifted", "-p", "1", "-overlay", write("overlay.json", overlay)); err != nil {
		t.Fatal(err)
	}
	return "shifted"
}

// Three gateways whose clocks are 18 minutes apart share their limits to the token.
func TestNoKeyPassesItsLimitWhateverTheGatewaysClocks(t *testing.T) {
	redistest.Require(t)
	binary := compileShifted(t)
	shifts := [gateways]time.Duration{-7 * time.Minute, 0, 11 * time.Minute}
	for name, more := range map[string]string{"without leases": "", "with leases": ", lease: 10"} {
		t.Run(name, func(t *testing.T) {
			s := single(redistest.New(t), patience, more)
			s.binary = binary
			for _, by := range shifts {
				s.env = append(s.env, fmt.Sprint(shift, "=", by))
			}
			f := start(t, s)
			for i, g := range f.gateways {
				g.hasClock(t, shifts[i])
			}
			f.told(t, toldShared, 1)
			o := f.run(t, 3*time.Second)
			o.holds(t, grown(o.lasted)*3/4, burst+grown(o.lasted))
			f.told(t, toldLocally, 0)
		})
	}
}

// hasClock checks that the gateway's clock is wrong by so much, in its log and in what it answers.
func (g *gateway) hasClock(t *testing.T, by time.Duration) {
	t.Helper()
	logged, err := time.Parse(time.RFC3339, g.clock)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodTrace, "http://"+g.addr, nil) // which the gateway answers itself
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	answered, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		t.Fatal(err)
	}
	for where, clock := range map[string]time.Time{"log": logged, "answer": answered} {
		if wrong := time.Until(clock).Round(time.Minute); wrong != by {
			t.Errorf("by its %s, the gateway's clock is wrong by %s, want %s", where, wrong, by)
		}
	}
}

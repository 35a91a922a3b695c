package command

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/config"
)

func shippedConfig(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheShippedConfigIsFine(t *testing.T) {
	noEnv := func(string) (string, bool) { return "", false }
	cfg, err := config.Parse("config.yaml", shippedConfig(t), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got := count(len(cfg.Upstreams), "upstream") + ", " + count(len(cfg.Routes), "route"); got != "2 upstreams, 3 routes" {
		t.Errorf("it has %s", got)
	}
}

// startDemo starts the demo on free ports and returns what it printed.
func startDemo(t *testing.T) (*running, string) {
	t.Helper()
	began := time.Now()
	r := startProcess(t, Process{Args: []string{"demo", "--ports-from", "0"}, Sample: shippedConfig(t),
		LookupEnv: func(string) (string, bool) { return "", false }})
	manual := r.stdout.waitFor(t, "public/hello; done\n")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %s to start, want under 2s", took)
	}
	return r, manual
}

// printed are the commands of the manual, each with what was said of it in the comment before.
func printed(manual string) (comments, commands []string) {
	comment := ""
	for line := range strings.Lines(manual) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "# "):
			if comment == "" { // else the comment goes on
				comment = line[2:]
			}
		case comment != "":
			comments, commands = append(comments, comment), append(commands, line)
			comment = ""
		}
	}
	return comments, commands
}

// shell pastes commands into one shell and returns what they print.
func shell(t *testing.T, commands ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Join(commands, "\n")).Output() // curl's meter is on stderr
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(commands, "\n"), err, output)
	}
	return string(output)
}

func TestDemoCommandsDoWhatTheySay(t *testing.T) {
	r, manual := startDemo(t)
	comments, commands := printed(manual)
	var told []string
	for i, comment := range comments[1:] {
		command, status := commands[i+1], comment[:3]
		told = append(told, status)
		switch _, err := exec.LookPath("curl"); {
		case err != nil:
			if got := withoutCurl(t, commands[0], command); got != status {
				t.Errorf("%s\n%s\ngot %s", comment, command, got)
			}
		case strings.HasPrefix(command, "for "):
			if codes := strings.Fields(shell(t, command)); codes[0] != "200" || codes[len(codes)-1] != status {
				t.Errorf("%s\n%s\ngot %s", comment, command, codes)
			}
		default:
			if answer := shell(t, commands[0], command); !strings.HasPrefix(answer, "HTTP/1.1 "+status+" ") {
				t.Errorf("%s\n%s\ngot %s", comment, command, answer)
			}
		}
	}
	if want := []string{"200", "401", "403", "404", "200", "200", "429"}; !slices.Equal(told, want) {
		t.Errorf("the manual shows %s, want %s", told, want)
	}
	r.interrupt()
	if code := r.end(t); code != 0 {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
}

// withoutCurl does what a printed command does, and returns the status that it ends with.
func withoutCurl(t *testing.T, tokenCommand, command string) string {
	t.Helper()
	address := regexp.MustCompile(`http://[^'; )]+`)
	get := func(url, token string) (string, string) {
		method := http.MethodGet
		if strings.Contains(command, "-X POST") {
			method = http.MethodPost
		}
		request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.Status[:3], strings.TrimSpace(string(body))
	}
	token := ""
	if strings.Contains(command, "$TOKEN") {
		_, token = get(address.FindString(tokenCommand), "")
	}
	times := 1
	if strings.HasPrefix(command, "for i in 1 2 3 4 5 6;") {
		times = 6
	}
	status := ""
	for range times {
		status, _ = get(address.FindString(command), token)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return status
}

func TestDemoCommandsWithoutCurl(t *testing.T) {
	_, manual := startDemo(t)
	comments, commands := printed(manual)
	for i, comment := range comments[1:] {
		if got := withoutCurl(t, commands[0], commands[i+1]); got != comment[:3] {
			t.Errorf("%s\n%s\ngot %s", comment, commands[i+1], got)
		}
	}
}

func TestDemoNamesThePortsThatAreTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, flag := range []string{"--listen", "--admin"} {
		code, stdout, stderr := call(t, "demo", "--ports-from", "0", flag, taken.Addr().String())
		for _, says := range []string{taken.Addr().String(), "address already in use", "--ports-from"} {
			if code != 1 || stdout != "" || !strings.Contains(stderr, says) {
				t.Errorf("%s: got %d %s%s, want 1 and %q", flag, code, stdout, stderr, says)
			}
		}
	}
}

func TestDemoPorts(t *testing.T) {
	for first, want := range map[int]demoPorts{0: {}, 18080: {18080, 18081, 18082, 18083, 18084, 18085}} {
		if got := portsFrom(first); got != want {
			t.Errorf("--ports-from %d is %v, want %v", first, got, want)
		}
	}
}

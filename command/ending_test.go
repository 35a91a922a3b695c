package command

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestASecondSignalEndsWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, got, hang := make(chan os.Signal), make(chan os.Signal, 2), make(chan struct{})
		code := make(chan int, 1)
		go func() {
			code <- ending(signals, func(signals <-chan os.Signal) int {
				got <- <-signals
				got <- <-signals
				<-hang
				return fine
			})
		}()
		signals <- os.Interrupt
		select {
		case <-code:
			t.Fatal("the first signal ended it, which is the command's to do")
		case <-time.After(time.Hour):
		}
		signals <- syscall.SIGTERM
		second := time.Now()
		signals <- syscall.SIGTERM // a third one changes nothing
		if c := <-code; c != inputWrong || time.Since(second) > lastMoment {
			t.Errorf("after %v it ended with %d", time.Since(second), c)
		}
		if a, b := <-got, <-got; a != os.Interrupt || b != syscall.SIGTERM {
			t.Errorf("the command got %v and %v", a, b)
		}
		close(hang)
	})
}

func TestACommandEndsByItself(t *testing.T) {
	for signals, want := range []int{callWrong, callWrong, inputWrong} {
		synctest.Test(t, func(t *testing.T) {
			sent := make(chan os.Signal, signals)
			for range signals {
				sent <- os.Interrupt
			}
			start := time.Now()
			code := ending(sent, func(<-chan os.Signal) int { <-time.After(time.Millisecond); return callWrong })
			if waited := time.Since(start); code != want || waited > time.Millisecond {
				t.Errorf("after %d signals it ended with %d, want %d, after %v", signals, code, want, waited)
			}
		})
	}
}

// pipe is one that nobody reads, as long as the test doesn't.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = w.Close(), r.Close() }) // ends who still hangs in a write
	return r, w
}

// fullPipe is one that takes no byte more.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	_, w := pipe(t)
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil {
			_, full = syscall.Write(int(fd), []byte{'\n'})
		}
		return true
	})
	if err != nil || !errors.Is(full, syscall.EAGAIN) {
		t.Fatal(err, full)
	}
	return w
}

func TestOutputsThatNobodyReadsDoNotKeepItFromEnding(t *testing.T) {
	const lost = "gatehouse: closing log, of which up to "
	for _, test := range []struct {
		name, log      string
		stdout, stderr bool // blocked
		signals, code  int
		says           string // on the standard error
	}{
		{"the log", "stdout", true, false, 1, 0, lost},
		{"the log and the standard error", "stdout", true, true, 1, 0, ""},
		{"the log on the standard error", "stderr", false, true, 1, 0, ""},
		{"the log on the standard error, and the other", "stderr", true, true, 1, 0, ""},
		{"the standard error", "stdout", false, true, 1, 0, ""},
		{"the log, after two signals", "stdout", true, false, 2, 1, ""},
		{"both, after two signals", "stdout", true, true, 2, 1, ""},
		{"the log on the standard error, after two signals", "stderr", false, true, 2, 1, ""},
		{"the standard error, after two signals", "stdout", false, true, 2, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "config.yaml", "log: {output: "+test.log+"}\nserver: {listen: \"127.0.0.1:0\", admin: \"127.0.0.1:0\"}\n"+minimal)
			p := Process{Args: []string{"serve", path}, LookupEnv: func(string) (string, bool) { return "", false }}
			if test.stdout {
				p.Stdout = fullPipe(t)
			}
			if test.stderr {
				p.Stderr = fullPipe(t)
			}
			r := startProcess(t, p)
			for range test.signals {
				r.interrupt()
			}
			if code := r.end(t); code != test.code || !strings.Contains(r.stderr.String(), test.says) {
				t.Errorf("it ended with %d and %q, want %d and %q", code, r.stderr, test.code, test.says)
			}
		})
	}
}

func TestALogThatIsReadLateIsWhole(t *testing.T) {
	s := newService(t)
	read, write := pipe(t)
	r := startProcess(t, Process{Args: s.serveFlags(), Stdout: write, LookupEnv: func(string) (string, bool) { return "", false }})
	log := bufio.NewReader(read)
	serving := ""
	for !strings.Contains(serving, `"msg":"serving"`) {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		serving = line
	}
	_, address, _ := strings.Cut(serving, `"listen":"`)
	address, _, _ = strings.Cut(address, `"`)
	const requests = 200 // at 600 bytes each, more than a pipe takes
	for range requests {
		request, err := http.NewRequest(http.MethodGet, "http://"+address+"/none", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", strings.Repeat("u", 600))
		if got := do(request); got.status != http.StatusNotFound {
			t.Fatalf("got %+v", got)
		}
	}
	r.interrupt()
	for get(address, "/none").err == nil { // each round takes a request's time
	}
	rest := make(chan string)
	go func() {
		text, err := io.ReadAll(log)
		if err != nil {
			t.Error(err)
		}
		rest <- string(text)
	}()
	if code := r.end(t); code != 0 || r.stderr.String() != "" {
		t.Errorf("it ended with %d: %s", code, r.stderr)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if text := <-rest; strings.Count(text, `"path":"/none"`) < requests || !strings.Contains(text, `"msg":"drained"`) {
		t.Errorf("%d requests are in the log:\n%.2000s", strings.Count(text, `"path":"/none"`), text)
	}
}

package logger

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun")) // its issue 56
}

// logged returns what do logs with o.
func logged(t testing.TB, o Options, do func(*Logger)) string {
	t.Helper()
	var out bytes.Buffer
	o.Writer = &out
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	do(l)
	closeNow(t, l)
	return out.String()
}

func closeNow(t testing.TB, l *Logger) {
	t.Helper()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// object reads one line of JSON.
func object(t testing.TB, line string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return m
}

func TestJSONLine(t *testing.T) {
	out := logged(t, Options{}, func(l *Logger) {
		l.Zap().Warn("a \"line\"\nof two", zap.Error(io.EOF), zap.Duration("after", 1500*time.Millisecond))
	})
	if strings.Count(out, "\n") != 1 {
		t.Fatalf("not one line: %q", out)
	}
	got := object(t, out)
	ts, err := time.Parse("2006-01-02T15:04:05.000Z", got["ts"].(string))
	if err != nil || time.Since(ts) > time.Minute {
		t.Errorf("ts is %v: %v", got["ts"], err)
	}
	delete(got, "ts")
	want := map[string]any{"level": "warn", "msg": "a \"line\"\nof two", "error": "EOF", "after": "1.5s"}
	if !equalJSON(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func equalJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errors.Join(errA, errB) == nil && bytes.Equal(x, y)
}

func TestConsoleLine(t *testing.T) {
	out := logged(t, Options{Format: "console"}, func(l *Logger) {
		l.Zap().Info("listening", zap.String("address", ":8080"), zap.String("evil", "a\x1b[2J\nb"))
	})
	_, rest, _ := strings.Cut(out, " ")
	if want := `INFO  listening {"address": ":8080", "evil": "a\u001b[2J\nb"}` + "\n"; rest != want {
		t.Errorf("got %q, want %q after the time", rest, want)
	}
}

func TestLevels(t *testing.T) {
	out := logged(t, Options{Level: "warn"}, func(l *Logger) {
		derived := l.Zap().With(zap.Int("n", 1))
		derived.Info("hidden")
		derived.Warn("shown")
		if err := l.SetLevel("verbose"); err == nil || l.Level() != "warn" {
			t.Errorf("an unknown level gave %v and the level %s", err, l.Level())
		}
		if err := l.SetLevel("debug"); err != nil || l.Level() != "debug" {
			t.Errorf("debug gave %v and the level %s", err, l.Level())
		}
		derived.Debug("debugging")
	})
	if strings.Contains(out, "hidden") || !strings.Contains(out, "shown") || !strings.Contains(out, "debugging") {
		t.Error(out)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"an unknown level", Options{Level: "loud"}, `log level "loud"`},
		{"a level of zap's that isn't ours", Options{Level: "fatal"}, `log level "fatal"`},
		{"an unknown format", Options{Format: "xml"}, `log format "xml"`},
		{"a file in a folder that isn't there", Options{Output: "/no/such/folder/gatehouse.log"}, "/no/such/folder"},
		{"a folder", Options{Output: t.TempDir()}, "not a regular file"},
		{"a device", Options{Output: "/dev/null"}, "/dev/null"},
		{"a name that can't be", Options{Output: t.TempDir() + "/" + strings.Repeat("x", 300)}, "opening log file"},
	} {
		if l, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v", c.name, l, err)
		}
	}
}

package logger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
)

func TestFilesArePrivateBeforeAndAfterRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gatehouse.log")
	l := open(t, Options{Output: path, MaxSize: 4096})
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Fatalf("the file is %v at the start: %v", info, err)
	}
	const lines = 9
	for i := range lines {
		l.Zap().Info(strings.Repeat("x", 1000), zap.Int("line", i))
		if err := l.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	closeNow(t, l)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	total := 0
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s is %v: %v", f.Name(), info.Mode(), err)
		}
		if f.Name() == files[0].Name() && info.Size() > 4096 { // the first backup; later ones may come too soon to rotate
			t.Errorf("%s has %d bytes, over the limit", f.Name(), info.Size())
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		total += strings.Count(string(text), "\n")
	}
	if total != lines {
		t.Errorf("%d lines in all files, want %d", total, lines)
	}
}

func TestAFileThatWasThereIsContinuedAndMadePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.log")
	if err := os.WriteFile(path, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Output: path})
	l.Zap().Info("after")
	closeNow(t, l)
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "before\n{") {
		t.Errorf("got %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v: %v", info, err)
	}
}

func TestAFileAlreadyOverTheLimitIsRotatedFirst(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gatehouse.log")
	if err := os.WriteFile(path, []byte(strings.Repeat("before\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Output: path, MaxSize: 500})
	l.Zap().Info("after")
	closeNow(t, l)
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "before") {
		t.Errorf("got %q, %v", text, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("%d files: %v", len(files), err)
	}
}

func TestABatchOverTheLimitIsNotLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.log")
	l := open(t, Options{Output: path, MaxSize: 1000})
	l.Zap().Info(strings.Repeat("x", 2<<20))
	closeNow(t, l)
	if info, err := os.Stat(path); err != nil || info.Size() < 2<<20 || l.Dropped() != 0 {
		t.Errorf("the file is %v, dropped %d: %v", info, l.Dropped(), err)
	}
}

func TestRotationsInOneMillisecondReplaceNoBackup(t *testing.T) {
	dir := t.TempDir()
	f, err := openFile(Options{Output: filepath.Join(dir, "gatehouse.log"), MaxSize: 10})
	if err != nil {
		t.Fatal(err)
	}
	line := []byte("a line of its own\n")
	for range 200 {
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range files {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if want := int64(200 * len(line)); total != want {
		t.Errorf("%d bytes in %d files, want %d", total, len(files), want)
	}
}

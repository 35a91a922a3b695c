package watch_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/helper/watch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is what a File reported.
type seen struct {
	t       *testing.T
	changes chan string
	errs    chan error
}

// run watches path until the test ends. The interval is an hour, so that only notifications tell, unless one is given.
func run(t *testing.T, path, content string, interval time.Duration) *seen {
	t.Helper()
	s := &seen{t, make(chan string, 100), make(chan error, 100)}
	file := watch.New(watch.Options{
		Path: path, Content: []byte(content), Settle: 30 * time.Millisecond, Interval: interval,
		Changed: func(content []byte) { s.changes <- string(content) },
		Failed:  func(err error) { s.errs <- err },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- file.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
	})
	return s
}

// next is the next change; none within 10 s fails the test.
func (s *seen) next(want string) {
	s.t.Helper()
	select {
	case got := <-s.changes:
		if got != want {
			s.t.Errorf("reported %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		s.t.Fatalf("%q wasn't reported", want)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWaysToChangeAFile(t *testing.T) {
	const hour = time.Hour
	for name, row := range map[string]struct {
		interval time.Duration
		change   func(t *testing.T, folder, path string)
	}{
		"written in place": {hour, func(t *testing.T, _, path string) { write(t, path, "new") }},
		"renamed over it, as editors save": {hour, func(t *testing.T, folder, path string) {
			write(t, filepath.Join(folder, "tmp"), "new")
			must(t, os.Rename(filepath.Join(folder, "tmp"), path))
		}},
		"removed and written again": {hour, func(t *testing.T, _, path string) {
			must(t, os.Remove(path))
			write(t, path, "new")
		}},
		"written in pieces": {hour, func(t *testing.T, _, path string) {
			file, err := os.Create(path)
			must(t, err)
			for _, piece := range []string{"n", "e", "w"} {
				_, err := file.WriteString(piece)
				must(t, err)
			}
			must(t, file.Close())
		}},
		"found by reading in intervals": {20 * time.Millisecond, func(t *testing.T, _, path string) { write(t, path, "new") }},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "file")
			write(t, path, "old")
			s := run(t, path, "old", row.interval)
			row.change(t, folder, path)
			s.next("new")
			write(t, path, "newer") // it isn't lost after the first change
			s.next("newer")
		})
	}
}

func TestAConfigMapIsSwappedByItsLink(t *testing.T) {
	folder := t.TempDir()
	for _, version := range []string{"v1", "v2", "v3"} {
		must(t, os.Mkdir(filepath.Join(folder, version), 0o700))
		write(t, filepath.Join(folder, version, "file"), version)
	}
	must(t, os.Symlink("v1", filepath.Join(folder, "..data")))
	path := filepath.Join(folder, "file")
	must(t, os.Symlink(filepath.Join("..data", "file"), path))
	s := run(t, path, "v1", time.Hour)
	for _, version := range []string{"v2", "v3"} {
		must(t, os.Symlink(version, filepath.Join(folder, "..data_tmp")))
		must(t, os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")))
		s.next(version)
	}
	write(t, filepath.Join(folder, "v3", "file"), "edited behind the link")
	s.next("edited behind the link")
}

func TestAChangeBeforeRunIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "changed since it was read")
	run(t, path, "old", time.Hour).next("changed since it was read")
}

func TestTheSameContentIsNoChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "same")
	s := run(t, path, "same", time.Hour)
	now := time.Now()
	must(t, os.Chtimes(path, now, now))
	must(t, os.Chmod(path, 0o640))
	write(t, path, "same")
	write(t, path, "other") // what comes after must be the first that is reported
	s.next("other")
}

func TestAFileThatGoesIsReportedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	s := run(t, path, "old", 10*time.Millisecond)
	must(t, os.Remove(path))
	select {
	case err := <-s.errs:
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("failed with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was reported")
	}
	write(t, path, "back")
	s.next("back")
	if len(s.errs) > 0 {
		t.Errorf("reported again: %v", <-s.errs)
	}
}

func TestAHugeFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "")
	must(t, os.Truncate(path, watch.MaxSize+1))
	if content, err := watch.Read(path); err == nil {
		t.Errorf("read %d bytes", len(content))
	}
}

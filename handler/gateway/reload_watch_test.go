package gateway_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/handler/gateway"
)

var stressSaves = flag.Int("saves", 25, "how many times TestWatchedReloadStress changes the file")

// saver changes a config in the ways in which it happens. Its path is a file or, as in a mounted ConfigMap, a link to
// ..data/config.yaml, where ..data is a link to a folder of this version.
type saver struct {
	t            *testing.T
	folder, path string
	results      chan string // of reloads
	rejected     int         // files that were read by halves
	versions     []string    // folders that are there
}

// must ends the test for an error.
func (s *saver) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// await waits for a result. A file that is being written may be taken for one that stands still, on a machine that is
// busy with something else: then it is rejected first, and nothing changes.
func (s *saver) await(want string) {
	s.t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case got := <-s.results:
			if got == want {
				return
			}
			if got != gateway.ReloadFailure {
				s.t.Fatalf("a reload is %s, want %s", got, want)
			}
			s.rejected++
		case <-timeout:
			s.t.Fatalf("no reload is a %s", want)
		}
	}
}

// renamed writes a new file and renames it over the old one, as editors do.
func (s *saver) renamed(content string) {
	s.t.Helper()
	s.must(os.WriteFile(s.path+".tmp", []byte(content), 0o600))
	s.must(os.Rename(s.path+".tmp", s.path))
}

// pieces writes the file in place, and what is done with the first part before the rest follows.
func (s *saver) pieces(content string, between func()) {
	s.t.Helper()
	file, err := os.Create(s.path)
	s.must(err)
	_, err = file.WriteString(content[:len(content)-10])
	s.must(err)
	between()
	_, err = file.WriteString(content[len(content)-10:])
	s.must(errors.Join(err, file.Close()))
}

// turned makes a folder with the file and turns the link to it, as the kubelet does, which removes the old folder then.
func (s *saver) turned(content string) {
	s.t.Helper()
	version, err := os.MkdirTemp(s.folder, "v")
	s.must(err)
	s.must(os.WriteFile(filepath.Join(version, "config.yaml"), []byte(content), 0o600))
	s.link(filepath.Base(version), filepath.Join(s.folder, "..data"))
	for _, old := range s.versions {
		s.must(os.RemoveAll(old))
	}
	s.versions = []string{version}
}

func (s *saver) link(to, from string) {
	s.t.Helper()
	s.must(os.Symlink(to, from+"_tmp"))
	s.must(os.Rename(from+"_tmp", from))
}

// save changes the file to what hasn't been served before, in one of the ways, and waits until it is served.
func (s *saver) save(n int, content string) {
	s.t.Helper()
	switch n % 5 {
	case 0:
		s.renamed(content)
	case 1:
		s.pieces(content, func() { ticks(5) })
	case 2: // the first part stands for so long that it is tried
		s.pieces(content, func() { s.await(gateway.ReloadFailure) })
	case 3: // the file becomes a link
		s.turned(content)
		s.link(filepath.Join("..data", "config.yaml"), s.path)
	default:
		s.turned(content)
	}
	s.await(gateway.ReloadSuccess)
}

// The file itself is changed, in every way, and the watcher finds it, while requests and WebSockets go on: none fails, and no
// state is lost.
// The whole of it: go test -run TestWatchedReloadStress -saves 1000 -rate 1000 -timeout 20m -v
func TestWatchedReloadStress(t *testing.T) {
	addr := newSocketBackend(t).Listener.Addr().String()
	text := strings.ReplaceAll(stressConfig, "BACKEND", addr)
	folder := t.TempDir()
	f := &saver{t: t, folder: folder, path: filepath.Join(folder, "config.yaml"), results: make(chan string, 100)}
	f.renamed(text)
	s := start(t, addr, stressConfig)
	r := gateway.NewReloader(gateway.ReloadOptions{
		Path: f.path, Env: func(string) (string, bool) { return "", false }, Gateway: s.gw, Running: parse(t, addr, stressConfig),
		Log: s.logger.Zap(), Done: func(result, _ string, _ time.Time) { f.results <- result },
	})
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan error, 1)
	go func() { watched <- r.Run(ctx) }()
	st := s.newState()
	l := s.load(*stressRate)
	took := make([]time.Duration, *stressSaves)
	for n := range took {
		begun := time.Now()
		f.save(n, text+fmt.Sprintf("  more: {url: \"http://127.0.0.1:2\", connections: {max_idle: %d}, route: {auth: none}}\n", n+1))
		took[n] = time.Since(begun)
		if n%20 == 0 {
			st.talk(n)
		}
	}
	l.end(t)
	slices.Sort(took)
	t.Logf("%d changes were served after %v (median) to %v, under %d requests in %v; %d files were tried by halves unasked",
		len(took), took[len(took)/2], took[len(took)-1], l.ok.Load(), time.Since(l.begun).Round(time.Second), f.rejected)
	st.kept()
	cancel()
	if err := <-watched; !errors.Is(err, context.Canceled) {
		t.Errorf("the watcher ended with %v", err)
	}
}

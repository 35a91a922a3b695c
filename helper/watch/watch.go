package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// MaxSize bounds what is read of a file, in bytes.
const MaxSize = 16 << 20

// The usual times.
const (
	defaultSettle   = 100 * time.Millisecond
	defaultInterval = 5 * time.Second
)

// Options are what to watch and whom to tell. The functions are called one at a time, from Run.
type Options struct {
	Path    string
	Content []byte // what the receiver has already; a different content is a change
	// Changed gets each new content, and the one that is back after Failed. It may keep it and must not change it.
	Changed func(content []byte)
	// Failed is told once when the file can't be read any more, by an error that names it.
	Failed func(err error)

	Settle   time.Duration // how long a content stands still before it is reported; 0: 100ms
	Interval time.Duration // how often the file is read without a notification; 0: 5s
}

// Read reads a file whole, as a File would report it.
func Read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	content, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(content) > MaxSize {
		return nil, fmt.Errorf("reading %s: it is larger than %d bytes", path, MaxSize)
	}
	return content, nil
}

// File watches one file.
type File struct {
	options Options
	known   []byte
	failed  bool // Failed was told
}

// New makes a File; Run does the work.
func New(o Options) *File {
	if o.Settle == 0 {
		o.Settle = defaultSettle
	}
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	return &File{options: o, known: o.Content}
}

// Run watches until ctx ends, and returns ctx's error. It is called once.
func (f *File) Run(ctx context.Context) error {
	var events <-chan fsnotify.Event
	var lost <-chan error
	watcher, err := fsnotify.NewWatcher()
	if err == nil { // without one, reading in intervals does
		defer watcher.Close() //nolint:errcheck // it only lets go of what it took
		events, lost = watcher.Events, watcher.Errors
	}
	interval := time.NewTicker(f.options.Interval)
	defer interval.Stop()
	settle := time.NewTimer(0) // the file may have changed since its content was read
	defer settle.Stop()
	var pending *reading // read once, not yet settled
	for {
		f.follow(watcher)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-lost: //nolint:errcheck // it says that events were lost: there were too many
			settle.Reset(f.options.Settle)
			continue
		case <-events:
			// Neither what happened nor to which file is looked at: a link on the way may have been turned. The timer isn't put
			// off by further events, or a busy folder would put off the change for ever.
			if pending == nil {
				pending = f.read()
				settle.Reset(f.options.Settle)
			}
			continue
		case <-interval.C:
			if pending != nil {
				continue
			}
		case <-settle.C:
		}
		now := f.read()
		switch {
		case pending != nil && now.same(pending):
			pending = nil
			f.report(now)
		case pending == nil && f.knows(now):
		default: // new, or still being written
			pending = now
			settle.Reset(f.options.Settle)
		}
	}
}

// follow watches the folders in which a change of the file shows: its own, and that of the file a link leads to. They are
// watched rather than the file, because a file that is renamed over it is another one.
func (f *File) follow(watcher *fsnotify.Watcher) {
	if watcher == nil {
		return
	}
	_ = watcher.Add(filepath.Dir(f.options.Path)) // one that isn't there is found by the interval
	if target, err := filepath.EvalSymlinks(f.options.Path); err == nil {
		_ = watcher.Add(filepath.Dir(target))
	}
}

// reading is what reading the file gave.
type reading struct {
	content []byte
	err     error
}

func (f *File) read() *reading {
	content, err := Read(f.options.Path)
	return &reading{content, err}
}

func (r *reading) same(other *reading) bool {
	return (r.err == nil) == (other.err == nil) && bytes.Equal(r.content, other.content)
}

// knows says whether the receiver has been told what now is.
func (f *File) knows(now *reading) bool {
	if now.err != nil {
		return f.failed
	}
	return !f.failed && bytes.Equal(now.content, f.known)
}

func (f *File) report(now *reading) {
	switch {
	case f.knows(now):
	case now.err != nil:
		f.failed = true
		f.options.Failed(withPath(now.err, f.options.Path))
	default: // new, or back as it was
		f.failed, f.known = false, now.content
		f.options.Changed(now.content)
	}
}

// withPath names the file in an error that doesn't.
func withPath(err error, path string) error {
	if pathError := new(os.PathError); errors.As(err, &pathError) {
		return fmt.Errorf("reading %s: %w", path, pathError.Err)
	}
	return err
}

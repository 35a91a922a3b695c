package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/config"
	"gatehouse/helper/watch"
)

// The results of a reload, as the metrics and the API have them.
const (
	ReloadSuccess   = "success"
	ReloadFailure   = "failure"
	ReloadUnchanged = "unchanged"
)

// ReloadOptions are where a Reloader gets its configuration and what it may do
// with it. Functions are called one at a time.
type ReloadOptions struct {
	Path    string
	Env     func(string) (string, bool)
	Gateway *Gateway
	Running *config.Config                      // what the gateway serves
	Adjust  func(*config.Config) *config.Config // what flags change of the file; nil: nothing
	Check   func(*config.Config) error          // refuses a configuration that is valid but not wanted; nil: none is
	Log     *zap.Logger
	// Done is told each result; hash is that of what is served now.
	Done func(result, hash string, at time.Time)
}

// Reload is what became of one attempt.
type Reload struct {
	Result   string          `json:"result"`
	At       time.Time       `json:"at"`
	Trigger  string          `json:"trigger"`        // file, signal or api
	Hash     string          `json:"hash,omitempty"` // of the configuration that was tried; absent where it can't be read
	Problems []string        `json:"problems,omitempty"`
	Changes  *config.Changes `json:"changes,omitempty"`
}

// Status is what is served and what was tried last.
type Status struct {
	Hash     string    `json:"hash"`
	Source   string    `json:"source"`
	Loaded   time.Time `json:"loaded"`
	Last     *Reload   `json:"last_reload,omitempty"`
	Rejected *Reload   `json:"last_rejected,omitempty"` // stays until a configuration is accepted
}

// Reloader puts a changed file in the place of the configuration that is
// served, whole or not at all. Its methods may be called concurrently.
type Reloader struct {
	options ReloadOptions
	content []byte // of the file when the Reloader was made

	mu      sync.Mutex // one reload at a time
	running *config.Config
	hash    string // of running

	statusMu sync.Mutex
	status   Status
}

// NewReloader makes a Reloader; Run watches the file.
func NewReloader(o ReloadOptions) *Reloader {
	if o.Adjust == nil {
		o.Adjust = func(c *config.Config) *config.Config { return c }
	}
	content, _ := watch.Read(o.Path) // an error is Run's to find
	hash := config.Hash(o.Running)
	return &Reloader{
		options: o, content: content, running: o.Running, hash: hash,
		status: Status{Hash: hash, Source: o.Path, Loaded: time.Now().UTC()},
	}
}

// Run reloads whenever the file's content changes, until ctx ends.
func (r *Reloader) Run(ctx context.Context) error {
	return watch.New(watch.Options{
		Path: r.options.Path, Content: r.content,
		Changed: func([]byte) { r.Reload("file") },
		Failed:  func(error) { r.Reload("file") }, // which finds the same, and counts it
	}).Run(ctx)
}

// Status is what is served now and what was tried last.
func (r *Reloader) Status() Status {
	r.statusMu.Lock()
	defer r.statusMu.Unlock()
	return r.status
}

// Reload reads the file and serves it from the next request on. With a problem
// nothing changes. A file that means what is running already is unchanged; the
// files it names are read again all the same, unless the file itself was what
// triggered it.
func (r *Reloader) Reload(trigger string) Reload {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := Reload{Result: ReloadFailure, At: time.Now().UTC(), Trigger: trigger}
	next, changes, err := r.try(&done)
	switch {
	case err != nil:
		done.Problems = problems(err)
		r.options.Log.Error("config rejected; the one that is running stays", zap.String("trigger", trigger),
			zap.String("hash", done.Hash), zap.Strings("problems", done.Problems))
	case changes.None():
		done.Result = ReloadUnchanged
		r.options.Log.Info("config unchanged", zap.String("trigger", trigger), zap.String("hash", done.Hash))
	default:
		done.Result, done.Changes = ReloadSuccess, &changes
		r.options.Log.Info("config reloaded", zap.String("trigger", trigger), zap.String("hash", done.Hash),
			zap.Strings("added", names(changes.Added)), zap.Strings("changed", names(changes.Changed)),
			zap.Strings("removed", names(changes.Removed)), zap.Int("kept", len(changes.Kept)), zap.Strings("settings", changes.Settings))
	}
	if err == nil {
		r.running, r.hash = next, done.Hash
	}
	r.record(done)
	r.options.Done(done.Result, r.hash, done.At)
	return done
}

// try does the work of Reload up to the point where the new configuration is
// served.
func (r *Reloader) try(done *Reload) (*config.Config, config.Changes, error) {
	content, err := watch.Read(r.options.Path)
	if err != nil {
		return nil, config.Changes{}, fmt.Errorf("reading the config: %w", err)
	}
	filters := FilterCheck(r.options.Gateway.deps.Filters)
	next, err := config.Parse(r.options.Path, content, r.options.Env, filters)
	if err != nil { // once more, for a report with the files that aren't there: they don't matter to a file that changes nothing
		_, err = config.Parse(r.options.Path, content, r.options.Env, filters, FileCheck())
		return nil, config.Changes{}, err
	}
	next = r.options.Adjust(next)
	done.Hash = config.Hash(next)
	changes := config.Diff(r.running, next)
	switch {
	case len(changes.Restart) > 0:
		return nil, changes, config.Locate(r.options.Path, content, restarts(changes.Restart)...)
	case changes.None() && done.Trigger == "file":
		return next, changes, nil
	}
	if r.options.Check != nil {
		if err := r.options.Check(next); err != nil {
			return nil, changes, Located(err, r.options.Path, content)
		}
	}
	return next, changes, Located(r.options.Gateway.Load(next), r.options.Path, content)
}

func restarts(keys []string) []config.Found {
	found := make([]config.Found, len(keys))
	for i, key := range keys {
		found[i] = config.Found{Key: key, Message: "can't change while the gateway runs: restart it, or put the old value back; nothing was changed"}
	}
	return found
}

func (r *Reloader) record(done Reload) {
	r.statusMu.Lock()
	defer r.statusMu.Unlock()
	r.status.Last = &done
	switch done.Result {
	case ReloadFailure:
		r.status.Rejected = &done
	case ReloadSuccess:
		r.status.Hash, r.status.Loaded = done.Hash, done.At
		r.status.Rejected = nil
	default:
		r.status.Rejected = nil
	}
}

// problems lists what is wrong, each as one text.
func problems(err error) []string {
	var invalid *config.Problems
	if errors.As(err, &invalid) {
		list := make([]string, len(*invalid))
		for i, p := range *invalid {
			list[i] = p.String()
		}
		return list
	}
	return []string{err.Error()}
}

func names(parts []config.Part) []string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.String()
	}
	return list
}

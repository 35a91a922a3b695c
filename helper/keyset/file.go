package keyset

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/helper/watch"
)

var errNoKey = errors.New("it has no key that can be used")

// File is the source of the keys of a file, which is read again when it changes. A file that is broken or gone leaves
// the last good set.
type File struct {
	current
	path      string
	content   []byte // what was read first
	parse     func([]byte) ([]Key, []error, error)
	refreshed func(Refresh)
}

// NewJWKSFile reads a file with a JSON Web Key Set; see [ParseJWKS]. refreshed is told of this and every later reading;
// it is called one at a time.
func NewJWKSFile(path string, refreshed func(Refresh)) (*File, error) {
	return newFile(path, ParseJWKS, refreshed)
}

// NewPEMFile reads a PEM file; see [ParsePEM]. refreshed is as for [NewJWKSFile].
func NewPEMFile(path string, refreshed func(Refresh)) (*File, error) {
	return newFile(path, func(data []byte) ([]Key, []error, error) {
		keys, err := ParsePEM(data)
		return keys, nil, err
	}, refreshed)
}

func newFile(path string, parse func([]byte) ([]Key, []error, error), refreshed func(Refresh)) (*File, error) {
	content, err := watch.Read(path)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	f := &File{path: path, content: content, parse: parse, refreshed: refreshed}
	return f, f.read(content).Err
}

// read puts the keys of content in place.
func (f *File) read(content []byte) Refresh {
	keys, skipped, err := f.parse(content)
	refresh := f.current.refreshed(keys, skipped, err)
	if refresh.Err != nil {
		refresh.Err = fmt.Errorf("reading keys of %s: %w", f.path, refresh.Err)
	}
	f.refreshed(refresh)
	return refresh
}

// Keys is like [Set.Keys].
func (f *File) Keys(ctx context.Context, kid, algorithm string) ([]Key, error) {
	return f.load().Keys(ctx, kid, algorithm)
}

// Fit is like [Set.Fit], of the keys at present.
func (f *File) Fit(algorithms []string) error {
	if err := f.load().Fit(algorithms); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// Run reads the file when it changes, until ctx ends, and returns ctx's error. It is called once.
func (f *File) Run(ctx context.Context) error {
	return watch.New(watch.Options{
		Path: f.path, Content: f.content,
		Changed: func(content []byte) { f.read(content) },
		Failed: func(err error) {
			f.refreshed(f.current.refreshed(nil, nil, fmt.Errorf("reading keys: %w", err)))
		},
	}).Run(ctx)
}

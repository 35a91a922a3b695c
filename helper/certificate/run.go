package certificate

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"gatehouse/helper/watch"
)

// together is within how long a second file may follow the first: certificate and key are renewed one after the other.
const together = 200 * time.Millisecond

// change is a file's new content.
type change struct {
	path    string
	content []byte
}

// Run reads files again when they change, until ctx ends, and returns ctx's error. It is called once.
func (s *Store) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	changes := make(chan change)
	for path, content := range s.contents {
		file := watch.New(watch.Options{Path: path, Content: content, Failed: s.options.Failed, Changed: func(content []byte) {
			select {
			case changes <- change{path, content}:
			case <-ctx.Done():
			}
		}})
		group.Go(func() error { return file.Run(ctx) })
	}
	group.Go(func() error { return s.follow(ctx, changes) })
	return group.Wait()
}

// follow uses the files' new contents, those that come together at once.
func (s *Store) follow(ctx context.Context, changes <-chan change) error {
	settled := time.NewTimer(0)
	settled.Stop()
	var last string
	for {
		select {
		case c := <-changes:
			s.contents[c.path], last = c.content, c.path
			settled.Reset(together)
		case <-settled.C:
			if err := s.use(); err != nil {
				s.options.Failed(err)
			} else {
				s.options.Changed(last)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

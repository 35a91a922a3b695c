package gateway

import (
	"context"
	"sync"
)

// parts are what outlives the snapshot it was made for: breakers, backends,
// buckets and key sources stay, with their state, as long as some snapshot
// wants them under the same key, which says whose they are and with what
// settings. They are looked at when a configuration is loaded or retired, never
// while a request is served.
type parts struct {
	mu    sync.Mutex
	byKey map[string]*part
}

type part struct {
	value any
	users int
	end   func()
}

func newParts() *parts { return &parts{byKey: make(map[string]*part)} }

// acquire returns the part with that key, and makes it first when there is
// none. end may be nil; it is called once, when the last user has released the
// part.
func acquire[T any](p *parts, key string, create func() (value T, end func(), err error)) (T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have, ok := p.byKey[key]; ok {
		have.users++
		return have.value.(T), nil
	}
	value, end, err := create()
	if err != nil {
		return value, err
	}
	p.byKey[key] = &part{value: value, users: 1, end: end}
	return value, nil
}

// release gives back what acquire gave for these keys, once each.
func (p *parts) release(keys []string) {
	var ends []func()
	p.mu.Lock()
	for _, key := range keys {
		have := p.byKey[key]
		if have.users--; have.users == 0 {
			delete(p.byKey, key)
			if have.end != nil {
				ends = append(ends, have.end)
			}
		}
	}
	p.mu.Unlock()
	for _, end := range ends { // they may wait, so not under the lock
		end()
	}
}

// running starts run on a goroutine of its own and returns what ends it and
// waits until it has ended.
func running(run func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = run(ctx) // it ends only because it is told to
	}()
	return func() {
		cancel()
		<-done
	}
}

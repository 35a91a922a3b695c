package logger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
)

// gate is a sink that takes a write for each token, and says when it got one.
type gate struct {
	tokens chan struct{}
	writes chan string
}

func newGate() gate { return gate{make(chan struct{}, 100), make(chan string, 100)} }

func (g gate) Write(p []byte) (int, error) {
	<-g.tokens
	g.writes <- string(p)
	return len(p), nil
}

func open(t *testing.T, o Options) *Logger {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLinesAppearAtOnceAndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		l := open(t, Options{Writer: g})
		g.tokens <- struct{}{}
		start := time.Now()
		l.Zap().Info("one")
		l.Zap().Info("two")
		got := <-g.writes
		if waited := time.Since(start); waited > time.Second {
			t.Errorf("a line waited for %v", waited)
		}
		if strings.Count(got, "\n") != 2 {
			t.Errorf("the two lines weren't written together: %q", got)
		}
		closeNow(t, l)
	})
}

func TestSyncWritesWhatWasLoggedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		l := open(t, Options{Writer: g})
		g.tokens <- struct{}{}
		start := time.Now()
		l.Zap().Info("one")
		if err := l.Sync(t.Context()); err != nil || len(g.writes) != 1 || time.Since(start) > linger {
			t.Errorf("after %v and %d writes: %v", time.Since(start), len(g.writes), err)
		}
		<-g.writes

		l.Zap().Info("stuck")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Sync(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a stuck sink gave %v", err)
		}
		start = time.Now()
		if err := l.Zap().Sync(); err == nil || time.Since(start) > syncTimeout {
			t.Errorf("zap's own Sync gave %v after %v", err, time.Since(start))
		}
		g.tokens <- struct{}{}
		closeNow(t, l)
		if err := l.Sync(t.Context()); err != nil {
			t.Errorf("Sync after Close: %v", err)
		}
	})
}

func TestLinesThatFindTheBufferFullAreDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		l := open(t, Options{Writer: g})
		l.Zap().Info("stuck in the sink")
		<-time.After(linger)
		synctest.Wait() // the writer has taken the line and hangs
		text := strings.Repeat("x", 1<<20)
		for range 6 { // three and their frames fit into 4 MiB
			l.Zap().Info(text)
		}
		if l.Dropped() != 3 {
			t.Fatalf("dropped %d, want 3", l.Dropped())
		}
		for range 10 {
			g.tokens <- struct{}{}
		}
		if err := l.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.Zap().Info("after")
		closeNow(t, l)
		close(g.writes)
		var batches []string
		for b := range g.writes {
			batches = append(batches, b)
		}
		if len(batches) != 4 || strings.Count(batches[1], "\n") != 3 {
			t.Fatalf("%d batches", len(batches))
		}
		notice := object(t, batches[2])
		if notice["msg"] != "log lines dropped" || notice["level"] != "warn" || notice["lines"] != 3.0 {
			t.Errorf("the notice is %v", notice)
		}
		if !strings.Contains(batches[3], "after") {
			t.Errorf("the last line is %q", batches[3])
		}
	})
}

// full is a disk that has room for so many bytes.
type full struct {
	bytes.Buffer
	room int
}

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	f.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

func TestLinesThatTheSinkRefusesAreCountedAndToldOf(t *testing.T) {
	sink := &full{}
	l := open(t, Options{Writer: sink})
	flush := func() {
		t.Helper()
		if err := l.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	l.Zap().Info("one")
	l.Zap().Info("two")
	sink.room = 10
	flush()
	l.Zap().Info("three")
	flush()
	if l.Dropped() != 3 {
		t.Errorf("dropped %d, want 3", l.Dropped())
	}
	sink.room = 1 << 20
	l.Zap().Info("four")
	closeNow(t, l)
	lines := strings.Split(strings.TrimSpace(sink.String()), "\n")
	if len(lines) != 3 { // the torn line, four, the notice
		t.Fatalf("got %q", lines)
	}
	if got := object(t, lines[1]); got["msg"] != "four" {
		t.Errorf("the line after the torn one is %v", got)
	}
	if got := object(t, lines[2]); got["lines"] != 3.0 {
		t.Errorf("the notice is %v", got)
	}
}

// O-07: a pipe that nobody reads, and many who log.
func TestAStoppedPipeStallsNobody(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := open(t, Options{Writer: w})
	const loggers, each = 4, 4000
	text := strings.Repeat("x", 1000)
	var wg sync.WaitGroup
	for i := range loggers {
		wg.Go(func() {
			for range each {
				l.Zap().Info(text, zap.Int("by", i))
			}
		})
	}
	wg.Wait()
	if l.Dropped() == 0 {
		t.Fatal("16 MB went into a pipe that nobody reads")
	}
	read := make(chan error)
	var lines, told uint64
	go func() {
		defer close(read)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines++
			var n uint64
			if _, after, found := strings.Cut(s.Text(), `"msg":"log lines dropped","lines":`); found {
				_, err := fmt.Sscan(strings.TrimSuffix(after, "}"), &n)
				if err != nil {
					read <- err
				}
				lines--
				told += n
			}
		}
	}()
	closeNow(t, l)
	w.Close()
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	if told != l.Dropped() || lines+told != loggers*each {
		t.Errorf("%d lines came and %d were told of; %d were dropped of %d", lines, told, l.Dropped(), loggers*each)
	}
}

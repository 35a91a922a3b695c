package logger

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCloseIsBoundedAndRepeatable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		l := open(t, Options{Writer: g})
		l.Zap().Info("one")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a stuck sink gave %v", err)
		}
		l.Zap().Info("too late")
		for range 10 {
			g.tokens <- struct{}{}
		}
		closeNow(t, l)
		if got := <-g.writes; !strings.Contains(got, `"one"`) || l.Dropped() != 1 {
			t.Errorf("got %q, dropped %d", got, l.Dropped())
		}
	})
}

func TestCloseSaysHowManyLinesAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		l := open(t, Options{Writer: g})
		l.Zap().Info("taken, and stuck")
		<-time.After(linger)
		synctest.Wait()
		l.Zap().Info("behind it")
		l.Zap().Info(strings.Repeat("x", bufferSize)) // dropped
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "up to 3 lines") {
			t.Errorf("a stuck sink gave %v", err)
		}
		for range 10 {
			g.tokens <- struct{}{}
		}
		closeNow(t, l)
	})

	l := open(t, Options{Writer: &full{room: 10}})
	l.Zap().Info("one")
	if err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Zap().Info("two")
	if err := l.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "up to 2 lines are missing: no space left") {
		t.Errorf("a full sink gave %v", err)
	}
}

// slow is a sink that takes its time.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	<-time.After(time.Second)
	return s.Buffer.Write(p)
}

func TestCloseWaitsForASlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &slow{}
		l := open(t, Options{Writer: sink})
		l.Zap().Info("one")
		<-time.After(2 * linger)
		l.Zap().Info("two")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := l.Close(ctx); err != nil || strings.Count(sink.String(), "\n") != 2 {
			t.Errorf("got %q, %v", sink, err)
		}
	})
}

// A file on a server that has gone can hang in its last step, too.
func TestASinkThatHangsInItsCloseHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn, broken := make(chan struct{}), errors.New("stale file handle")
		w := newWriter(&bytes.Buffer{}, func() error { <-goOn; return broken }, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(goOn)
		if err := w.close(t.Context()); !errors.Is(err, broken) {
			t.Errorf("got %v, want the close's own error", err)
		}
	})
}

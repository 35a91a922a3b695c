package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/gateway"
)

const (
	// startTimeout is how long a new process may take until it serves.
	startTimeout = time.Minute
	// warmTimeout is how long a new process waits for its backends' first checks and its providers' first keys. It serves
	// without them then, as it would without an old process.
	warmTimeout = 10 * time.Second
	// closingTime is how long the old process tells its connections to close, before it closes those that don't by
	// itself: one on which a request is just coming in isn't cut that way.
	closingTime = time.Second
)

// upgrade takes over from the old process, if there is one, and then starts a new one at each request for it, until one serves,
// whose id goes to successor. One that doesn't changes nothing. Requests wait until the old process has ended.
func (p Process) upgrade(ctx context.Context, s service, successor chan<- int) error {
	s.takeOver(ctx)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.Upgrades:
		}
		if !s.oldHasEnded(ctx) {
			s.log.Info("a new process takes over once the one before this has ended")
		}
		if err := s.handover.WaitForOld(ctx); ctx.Err() != nil {
			return err
		}
		s.log.Info("starting a new process to take over", zap.String("program", os.Args[0]))
		pid, err := s.handover.Upgrade()
		if err == nil {
			successor <- pid
			return nil
		}
		s.log.Error("no new process has taken over; this one goes on", zap.Error(err))
	}
}

// oldHasEnded says whether the process before this one, if there was one, has ended, as far as can be told in a moment.
func (s service) oldHasEnded(ctx context.Context) bool {
	moment, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	return s.handover.WaitForOld(moment) == nil
}

// handOver ends this process after a new one has taken over.
func (p Process) handOver(s service, pid int) error {
	if err := notify(fmt.Sprintf("MAINPID=%d", pid)); err != nil {
		s.log.Warn("telling NOTIFY_SOCKET who serves now", zap.Error(err))
	}
	handed := errors.Join(s.public.HandOver(), s.private.HandOver())
	last, cancel := context.WithTimeout(context.Background(), closingTime)
	defer cancel()
	_ = s.private.Shutdown(last) // its connections must not tell of this process; what takes longer is cut at the end
	s.drain.Delay = closingTime
	return errors.Join(handed, p.drain(s, 2)) // a stop of the whole service reaches this process, too, and changes nothing
}

// takeOver tells the old process, if there is one, that this one serves, as soon as it can serve as well.
func (s served) takeOver(ctx context.Context, gate *gateway.Gateway, log *zap.Logger) {
	if s.handover.HandedOver() {
		s.warmUp(ctx, gate)
	}
	if err := s.handover.Ready(); err != nil { // then it has ended, and this one serves alone
		log.Warn("the old process doesn't wait any more", zap.Error(err))
	}
}

func (s served) warmUp(ctx context.Context, gate *gateway.Gateway) {
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		if known, _ := gate.Health(); known && len(gate.KeylessProviders()) == 0 {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

package command

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"gatehouse/helper/handover"
	"gatehouse/helper/server"
)

// service is what supervise keeps alive and ends.
type service struct {
	public, private *server.Server
	work            []func(context.Context) error
	drain           server.Drain
	takeOver        func(context.Context) // from the old process, before this one can be upgraded
	handover        *handover.Handover
	log             *zap.Logger
}

// supervise runs the service until the first signal, or until a new process has taken over or a part of it fails, and
// returns when all of it has ended.
func (p Process) supervise(s service) error {
	work, stop := context.WithCancel(context.Background())
	defer stop()
	group, failed := errgroup.WithContext(work)
	for _, run := range s.work {
		group.Go(func() error { return run(failed) })
	}
	group.Go(s.public.Serve)
	group.Go(s.private.Serve)

	successor := make(chan int, 1)
	group.Go(func() error { return p.upgrade(failed, s, successor) })

	var drained error
	select {
	case sig := <-p.Signals:
		s.log.Info("draining", zap.Stringer("signal", sig), zap.Int64("in_flight", s.drain.InFlight()))
		s.handover.Stop()
		drained = p.drain(s, 1)
	case pid := <-successor:
		s.log.Info("a new process has taken over; draining", zap.Int("pid", pid), zap.Int64("in_flight", s.drain.InFlight()))
		drained = p.handOver(s, pid)
	case <-failed.Done(): // the error is group.Wait's
	}
	stop()
	s.handover.Stop()
	closed := errors.Join(s.public.Close(), s.private.Close()) // the admin listener answers until the very end
	ended := group.Wait()
	if errors.Is(ended, context.Canceled) { // it was told to
		ended = nil
	}
	return errors.Join(drained, ended, closed)
}

// drain ends the public listener in good order, or at once after so many signals more.
func (p Process) drain(s service, signals int) error {
	again, cancel := context.WithCancelCause(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for n := 1; ; n++ {
			select {
			case sig := <-p.Signals:
				if n == signals {
					cancel(fmt.Errorf("a second signal (%s) cut the drain short", sig))
				}
			case <-again.Done():
				return
			}
		}
	}()
	cut, err := s.public.Drain(again, s.drain)
	cancel(nil)
	<-watched
	if cut > 0 {
		s.log.Warn("requests were cut", zap.Int64("number", cut))
	}
	s.log.Info("drained")
	return err
}

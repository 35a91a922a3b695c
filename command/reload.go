package command

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"gatehouse/handler/admin"
	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/helper/handover"
	"gatehouse/helper/metrics"
	"gatehouse/logger"
)

// served is what run serves, and where it came from.
type served struct {
	config *config.Config
	source string                              // for a person: the file, or what stood for it
	file   string                              // "": it isn't from a file, and can't change
	adjust func(*config.Config) *config.Config // what flags change of the file

	handover *handover.Handover // nil: nothing is inherited, and nothing handed over
}

// reloads keeps the gateway's config up to date with its file.
type reloads struct {
	reloader *gateway.Reloader // nil: the config isn't from a file
	fixed    gateway.Status
}

func (p Process) newReloads(s served, gate *gateway.Gateway, series *metrics.Metrics, log *logger.Logger) *reloads {
	now := time.Now().UTC()
	hash := config.Hash(s.config)
	series.ConfigLoaded(hash, now)
	if s.file == "" {
		return &reloads{fixed: gateway.Status{Hash: hash, Source: s.source, Loaded: now}}
	}
	return &reloads{reloader: gateway.NewReloader(gateway.ReloadOptions{
		Path: s.file, Env: p.LookupEnv, Gateway: gate, Running: s.config, Adjust: s.adjust, Check: p.tested, Log: log.Zap(),
		Done: func(result, hash string, at time.Time) {
			series.ConfigReload(result)
			if result == gateway.ReloadSuccess {
				series.ConfigLoaded(hash, at)
			}
		},
	})}
}

// run watches the file and reloads on SIGHUP, until ctx ends.
func (r *reloads) run(ctx context.Context, p Process) error {
	if r.reloader == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.reloader.Run(ctx) })
	group.Go(func() error {
		for {
			select {
			case <-p.Hangups:
				r.reloader.Reload("signal")
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return group.Wait()
}

// status is the answer of /api/config.
func (r *reloads) status() admin.Config {
	s := r.fixed
	if r.reloader != nil {
		s = r.reloader.Status()
	}
	answer := admin.Config{Hash: s.Hash, Source: s.Source, Loaded: s.Loaded}
	if s.Last != nil {
		answer.LastReload = s.Last
	}
	if s.Rejected != nil {
		answer.LastRejected = s.Rejected
	}
	return answer
}

// reload is POST /api/reload; nil where there is no file to read.
func (r *reloads) reload() func() (any, bool) {
	if r.reloader == nil {
		return nil
	}
	return func() (any, bool) {
		done := r.reloader.Reload("api")
		return done, done.Result != gateway.ReloadFailure
	}
}

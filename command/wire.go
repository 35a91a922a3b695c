package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/admin"
	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/helper/handover"
	"gatehouse/helper/metrics"
	"gatehouse/helper/problem"
	"gatehouse/helper/server"
	"gatehouse/logger"
)

// flushTimeout is how long the log's sink may take for the last lines. What stops a service allows little more than the drain.
const flushTimeout = 3 * time.Second

// run puts the gateway together and serves until a signal, then drains. started is called, unless it is nil, with the
// addresses once both listeners are open. The error is nil after a drain, also one that cut requests.
func (p Process) run(s served, started func(public, admin string)) (err error) {
	if s.handover == nil {
		s.handover = &handover.Handover{}
	}
	cfg := s.config
	log, err := p.openLog(cfg.Log)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	defer func() { // last: everything else still logs
		if lost := closeLog(log); lost != nil { // which doesn't change what became of the gateway
			p.say(lost.Error())
		}
	}()
	if p.OwnsLog {
		giveBack, err := zap.RedirectStdLogAt(log.Zap(), zap.WarnLevel)
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
		defer giveBack()
	}
	if p.FitsMemory {
		defer runtime.KeepAlive(p.fitMemory(log.Zap()))
	}

	secure, err := certificates(&cfg.Server, log.Zap())
	if err != nil {
		return located(err, s.source)
	}
	tracing, flush, err := p.newTracing(cfg.Tracing, log.Zap())
	if err != nil {
		return err
	}
	defer flush()
	series := p.newMetrics(cfg.Metrics, log)
	gate, err := gateway.Build(cfg, gateway.Deps{
		Log: log.Zap(), Access: accessLog(log), Observer: observer{series}, Filters: p.Filters, Tracing: tracing,
	})
	if err != nil {
		return located(err, s.source)
	}
	running := false
	defer func() {
		if !running {
			err = errors.Join(err, letGo(gate))
		}
	}()
	reload := p.newReloads(s, gate, series, log)

	var draining atomic.Bool
	public, err := s.newServer(cfg.Server, "server.listen", publicOptions(&cfg.Server, gate, secure), log)
	if err != nil {
		return err
	}
	defer public.Close() //nolint:errcheck // it was drained, or there is a better error to return
	private, err := s.newServer(cfg.Server, "server.admin", server.Options{Address: cfg.Server.Admin, Handler: admin.New(admin.Options{
		Token:      string(cfg.Server.AdminToken),
		Metrics:    series.Handler(),
		Ready:      func() admin.Readiness { return readiness(draining.Load(), gate) },
		Config:     reload.status,
		Routes:     func() any { return gate.Routes() },
		Upstreams:  func() any { return gate.Upstreams() },
		Log:        log,
		Identity:   admin.Identity{AssertionKeys: gate.AssertionKeys, Revoked: gate.Revoked()},
		Operations: admin.Operations{Reload: reload.reload(), SetBreaker: gate.SetBreaker, Drain: gate.DrainBackend, Explain: explainer(gate)},
	})}, log)
	if err != nil {
		return err
	}
	defer private.Close() //nolint:errcheck // as above

	log.Zap().Info("serving", zap.String("listen", public.Addr()), zap.String("admin", private.Addr()),
		zap.String("config", s.source), zap.String("hash", config.Hash(cfg)), zap.String("version", p.versionName()))
	if started != nil {
		started(public.Addr(), private.Addr())
	}
	running = true
	err = p.supervise(service{
		public:  public,
		private: private,
		work: append(work(gate, secure),
			func(ctx context.Context) error { return reload.run(ctx, p) }),
		takeOver: func(ctx context.Context) { s.takeOver(ctx, gate, log.Zap()) },
		handover: s.handover,
		log:      log.Zap(),
		drain: server.Drain{
			Delay:    time.Duration(cfg.Server.Drain.Delay),
			Timeout:  time.Duration(cfg.Server.Drain.Timeout),
			Begin:    func() { draining.Store(true); gate.Drain() },
			Wait:     gate.Wait,
			InFlight: gate.InFlight,
		},
	})
	if err != nil {
		return servedError{err}
	}
	return nil
}

// newServer opens a listener with what both have in common.
func (s served) newServer(cfg config.Server, key string, o server.Options, log *logger.Logger) (*server.Server, error) {
	errorLog, err := zap.NewStdLogAt(log.Zap(), zap.WarnLevel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	o.ReadHeader, o.Idle = time.Duration(cfg.Timeouts.ReadHeader), time.Duration(cfg.Timeouts.Idle)
	o.MaxHeader, o.ErrorLog = int64(cfg.MaxHeaderSize), errorLog
	if o.Listener, err = s.handover.Listener(key, o.Address); err != nil {
		return nil, err
	}
	opened, err := server.New(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if o.Listener == nil {
		if err := s.handover.Add(key, o.Address, opened.Socket()); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	return opened, nil
}

// openLog opens the log; the standard streams are the Process's.
func (p Process) openLog(cfg config.Log) (*logger.Logger, error) {
	writer := map[string]io.Writer{"stdout": p.Stdout, "stderr": p.Stderr}[cfg.Output]
	return logger.New(logger.Options{
		Level:      cfg.Level,
		Format:     cfg.Format,
		Output:     cfg.Output,
		MaxSize:    int64(cfg.Rotate.MaxSize),
		MaxBackups: cfg.Rotate.MaxBackups,
		MaxAgeDays: cfg.Rotate.MaxAgeDays,
		Compress:   cfg.Rotate.Compress,
		Writer:     writer,
	})
}

func closeLog(log *logger.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	return log.Close(ctx)
}

// accessLog makes the access log that a config asks for.
func accessLog(log *logger.Logger) func(*config.Config) *logger.Access {
	return func(cfg *config.Config) *logger.Access {
		return logger.NewAccess(log, logger.AccessOptions{
			Enabled:       cfg.Log.Access.Enabled,
			Sample:        cfg.Log.Access.Sample,
			Headers:       cfg.Log.Access.Headers,
			RedactQuery:   slices.Concat(cfg.Log.Access.RedactQuery, tokenParameters(cfg)),
			SecretHeaders: []string{cfg.Auth.APIKeys.Header},
		})
	}
}

func (p Process) newMetrics(cfg config.Metrics, log *logger.Logger) *metrics.Metrics {
	codes := problem.Codes()
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = string(code)
	}
	return metrics.New(metrics.Options{
		Buckets:          cfg.Buckets,
		NativeHistograms: cfg.NativeHistograms,
		Version:          p.versionName(),
		GoVersion:        runtime.Version(),
		Codes:            names,
		LogDropped:       log.Dropped,
	})
}

// tokenParameters are the query parameters that tokens are looked for in.
func tokenParameters(cfg *config.Config) (names []string) {
	for _, provider := range cfg.Auth.Providers {
		for _, place := range provider.TokenFrom {
			if name, ok := strings.CutPrefix(place, "query:"); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

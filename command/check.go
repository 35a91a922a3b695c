package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"go.uber.org/zap"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/logger"
)

// compile builds the gateway that cfg describes, which finds what the text alone doesn't show (a key file or a
// certificate of no use), tries its server.tests, and takes it apart again. The log file isn't opened, since that would make it.
func (p Process) compile(cfg *config.Config) error {
	_, certificateErr := loadCertificates(certificateOptions(&cfg.Server, zap.NewNop()))
	return errors.Join(p.unserved(cfg, false, func(gate *gateway.Gateway) error { return p.holds(cfg, gate) }), certificateErr)
}

// unserved builds the gateway that cfg describes, for use, and takes it apart again. It serves nothing and asks no host,
// but for keys where those are to be fetched.
func (p Process) unserved(cfg *config.Config, fetchKeys bool, use func(*gateway.Gateway) error) error {
	log, err := logger.New(logger.Options{Writer: io.Discard})
	if err != nil {
		return err
	}
	gate, err := gateway.Build(cfg, gateway.Deps{
		Log:       log.Zap(),
		Access:    accessLog(log),
		Observer:  observer{p.newMetrics(cfg.Metrics, log)},
		Filters:   p.Filters,
		Offline:   true,
		FetchKeys: fetchKeys,
	})
	if err == nil {
		err = errors.Join(use(gate), letGo(gate))
	}
	return errors.Join(err, closeLog(log))
}

// located names the file of an error, or of each of those that are joined in it, and the line where that is known.
func located(err error, file string) error {
	if text, readErr := os.ReadFile(file); readErr == nil { // else the flags are the config
		if placed := new(config.Problems); errors.As(gateway.Located(err, file, text), &placed) {
			return placed
		}
	}
	return fmt.Errorf("%s: %w", file, err)
}

// letGo ends what Build started for a gateway that never runs.
func letGo(gate *gateway.Gateway) error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := gate.Run(over); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

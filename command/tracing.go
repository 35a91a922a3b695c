package command

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/helper/trace"
	"gatehouse/helper/trace/otlp"
)

// spansTimeout is how long the collector may take for the last spans.
const spansTimeout = 5 * time.Second

// newTracing makes who records spans, and what sends the last of them at the end.
func (p Process) newTracing(cfg config.Tracing, log *zap.Logger) (tracing gateway.Tracing, flush func(), err error) {
	if cfg.OTLPEndpoint == "" {
		return gateway.Tracing{}, func() {}, nil
	}
	exporter, err := otlp.New(context.Background(), otlp.Options{
		Endpoint: cfg.OTLPEndpoint, Version: p.versionName(),
		Failed: func(err error) {
			log.Warn("spans can't be sent; requests go on without them", zap.String("otlp_endpoint", cfg.OTLPEndpoint), zap.Error(err))
		},
	})
	if err != nil {
		return gateway.Tracing{}, nil, fmt.Errorf("tracing.otlp_endpoint: %w", err)
	}
	flush = func() {
		ctx, cancel := context.WithTimeout(context.Background(), spansTimeout)
		defer cancel()
		if err := exporter.Close(ctx); err != nil {
			log.Warn("the last spans were lost", zap.Error(err))
		}
	}
	return gateway.Tracing{Record: exporter.Record, Fetched: exporter.Fetched, Sampler: trace.NewSampler(cfg.SampleRatio)}, flush, nil
}

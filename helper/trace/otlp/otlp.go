package otlp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const exportTimeout = 10 * time.Second

// Options are where spans go and from whom.
type Options struct {
	Endpoint string // the collector's base URL, such as http://otel-collector:4318
	Version  string // of this gateway
	// Failed is told why spans couldn't be sent, at most once a minute; nil: nobody is.
	Failed func(error)
}

// Exporter sends spans.
type Exporter struct {
	processor sdk.SpanProcessor
	resource  *resource.Resource
	scope     instrumentation.Scope
}

// New makes an exporter. The collector needn't be there yet.
func New(ctx context.Context, o Options) (*Exporter, error) {
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimSuffix(o.Endpoint, "/")+"/v1/traces"), otlptracehttp.WithTimeout(exportTimeout))
	if err != nil {
		return nil, fmt.Errorf("making the exporter for %s: %w", o.Endpoint, err)
	}
	return &Exporter{
		processor: sdk.NewBatchSpanProcessor(&outlet{SpanExporter: client, failed: o.Failed}),
		resource:  resource.NewSchemaless(attribute.String("service.name", "gatehouse"), attribute.String("service.version", o.Version)),
		scope:     instrumentation.Scope{Name: "gatehouse", Version: o.Version},
	}, nil
}

// Close sends what is queued, or gives up with ctx's error.
func (e *Exporter) Close(ctx context.Context) error {
	return e.processor.Shutdown(ctx)
}

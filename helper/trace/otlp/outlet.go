package otlp

import (
	"context"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// quiet is how long nothing is said after a failure has been reported.
const quiet = time.Minute

// outlet reports failures to send itself: OpenTelemetry would hand each of them
// to a handler that is global. The processor calls it from one goroutine at a
// time.
type outlet struct {
	sdk.SpanExporter
	failed func(error)
	last   time.Time // of the last report
}

func (o *outlet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := o.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && o.failed != nil && (o.last.IsZero() || time.Since(o.last) >= quiet) {
		o.last = time.Now()
		o.failed(err)
	}
	return nil
}

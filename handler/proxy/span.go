package proxy

import (
	"time"

	"gatehouse/helper/problem"
	"gatehouse/helper/trace"
)

// startSpan begins the span of an attempt, whose id the backend gets as its
// parent.
func (c *call) startSpan(id [8]byte) {
	if spans := c.exchange.Spans; spans != nil {
		spans.Attempts = append(spans.Attempts, trace.Attempt{Span: id, Start: c.started, Backend: c.backend.Name})
	}
}

// span is that of the attempt that is being made, nil when none is recorded.
func (c *call) span() *trace.Attempt {
	spans := c.exchange.Spans
	if spans == nil || len(spans.Attempts) == 0 {
		return nil
	}
	if last := &spans.Attempts[len(spans.Attempts)-1]; last.End.IsZero() {
		return last
	}
	return nil
}

// spanAnswered notes the status that an attempt got.
func (c *call) spanAnswered(status int) {
	if span := c.span(); span != nil {
		span.Status = status
	}
}

// endSpan ends the span of an attempt; code is "" where it went well.
func (c *call) endSpan(code problem.Code) {
	if span := c.span(); span != nil {
		span.End, span.Error = time.Now(), string(code)
	}
}

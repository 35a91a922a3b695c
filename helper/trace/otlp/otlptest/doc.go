// Package otlptest is an OpenTelemetry collector for tests: it takes OTLP over
// HTTP and keeps the spans that it got. It fails its test for anything else that
// it is sent. It is for tests only; a Collector may be used concurrently.
package otlptest

// Package middleware has the stages that every request goes through, one a
// file, and in stages.go the order in which it does.
//
// A stage is built once per route, at load, and serves any number of requests
// at the same time. It reads the inbound request and never changes it for the
// upstream: what it decides goes into the exchange. A stage that refuses writes
// a problem and doesn't call the next one; it never writes twice.
package middleware

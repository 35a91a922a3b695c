// Package upstream holds the pools: which backends an upstream has, how many
// requests each has in flight, and which one a request is sent to.
//
// A pool filters (a backend that may not be used now is not offered) and its
// picker picks. Pools and backends are safe for concurrent use; what they are
// made of doesn't change after New.
package upstream

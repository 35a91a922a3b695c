// Package redistest runs real Redis servers for tests and measurements: single,
// with a replica and Sentinels, or a Cluster. Each has its own folder and a free
// port, and ends with its test. It is for tests only.
//
// Without a redis-server on the PATH, the test that asks for one is skipped.
package redistest

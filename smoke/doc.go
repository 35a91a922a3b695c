// Package smoke tests the built binary from outside: a process, the shipped config.yaml, raw connections on both sides.
//
// Guarantees: what a backend gets is compared whole, byte for byte; exit codes and the log are those of the real process.
//
// Non-guarantees: it shows that the parts are wired up. What each of them does in every case is tested beside it.
//
// Concurrency: each test has processes, ports and folders of its own.
package smoke

// Package watch tells when the content of a file changes: of a key file, a list of API keys, a config.
//
// It guarantees that a change is found however it comes about: written in place, renamed over the file, or, as Kubernetes
// mounts a ConfigMap, by turning a symbolic link elsewhere. What is reported is the content, never an event: a touch, a
// chmod and a rewrite with the same bytes are no change. A content is reported only after it has stood still for the
// settling time, so that a file which is being written isn't reported by halves. Where the system's notifications fail
// (a network file system, no watches left), reading the file in intervals finds the change later.
//
// It doesn't know what the content means: one that is no good is the receiver's to refuse, and a file that stays cut off
// in the middle for longer than the settling time is reported as it is.
//
// A File is run once, by one goroutine, which also calls the functions of its Options.
package watch

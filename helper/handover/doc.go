// Package handover gives the sockets that a process listens on to the process that takes its place, so that no connection is
// refused in between: both accept from the same queue until the old one stops. It also takes the sockets that systemd opened
// for the process (socket activation, sd_listen_fds(3)).
//
// Guarantees: Start returns nil only once the new process has said that it serves; otherwise the new process has ended, the
// error says why in its own words, and nothing has changed for the old one. Sockets that the new process doesn't ask for are closed
// in it.
//
// Non-guarantees: nothing but sockets is handed over; what the old process knows is lost with it. It works where processes
// inherit file descriptors from each other, so not on Windows.
//
// Concurrency: an Inheritance belongs to the goroutine that starts the process; Start may be called from any goroutine.
package handover

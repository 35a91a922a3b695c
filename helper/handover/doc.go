// Package handover gives the sockets that a process listens on to the process that takes its place, so that no connection is
// refused in between: both accept from the same queue until the old one stops. Tableflip does that; this package adds the
// sockets that a service manager opened (socket activation, sd_listen_fds(3)), who owns the file of a unix socket, and what
// the new process has to say: its id, or why it doesn't serve.
//
// Guarantees: Upgrade returns without an error only once the new process has said that it serves; otherwise the new process has
// ended, the error says why in its own words if it had any, and nothing has changed for the old one. Sockets that the new process
// doesn't ask for are closed in it. A unix socket's file is removed by the last process that listens on it, a service manager's
// by none.
//
// Non-guarantees: nothing but sockets is handed over; what the old process knows is lost with it. Only one Handover can be made
// in a process. There is no upgrade while the process before this one still drains. It works where processes inherit file
// descriptors from each other, so not on Windows.
//
// Concurrency: a Handover belongs to the goroutine that starts the process until Ready; then Upgrade is for one goroutine, and
// Stop for any.
package handover

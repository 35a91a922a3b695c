// Package command is the command line, and the only place where the parts of the gateway are put together.
//
// Guarantees: Main returns instead of exiting, and touches nothing of the process but what Process gives it, files and
// sockets, so that a test can run any command. It returns 0 when all is well, 1 when the input is wrong (a config, a key,
// a port that is taken), 2 when the call is wrong (a flag, an argument, an unknown command). What a command was asked for
// goes to the standard output, everything else to the standard error.
//
// Non-guarantees: texts for people may change at any time; exit codes, and what goes to the standard output, don't.
//
// Concurrency: Main may be called several times at once with different Processes.
package command

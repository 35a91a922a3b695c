// Package logger is the process's log: ordinary lines through zap, the access log, files that rotate, and redaction.
//
// It guarantees that
//   - logging never waits for the sink. Lines go into a buffer of 4 MiB that one goroutine writes out within
//     milliseconds; when it is full because the sink is stuck, lines are dropped and counted, and a line "log lines
//     dropped" says how many as soon as the sink takes lines again;
//   - a line is one line, and in the format json one valid JSON object with ts, level and msg, whatever bytes a client
//     sent: control characters and invalid UTF-8 come out escaped;
//   - an access line shows no value of a redacted query parameter, in any spelling of its name, and no value of a
//     header that carries a credential;
//   - a log file, before and after rotation, is readable by its owner only.
//
// It does not guarantee that the last lines survive a crash of the process: Close writes them, as long as its context lasts,
// and says how many are missing; Sync does when that matters earlier. It doesn't look for secrets in the fields of ordinary lines.
//
// A file's rotation leaves one goroutine of lumberjack behind after Close (its issue 56), so make one Logger for each
// process and keep it over reloads: the level can be changed, the output can't.
//
// Everything may be used from any goroutine.
package logger

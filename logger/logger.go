package logger

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Options says what is logged, how and where. The zero value logs JSON from level info on to the standard output.
type Options struct {
	Level  string // debug, info, warn or error; "" is info
	Format string // json or console; "" is json
	Output string // stdout, stderr or a file's path; "" is stdout

	// The rest is for files only.
	MaxSize    int64 // bytes after which the file is rotated; 0 is 100 MiB
	MaxBackups int   // rotated files that are kept; 0 is all
	MaxAgeDays int   // days that a rotated file is kept; 0 is for ever
	Compress   bool  // rotated files are compressed with gzip

	Writer io.Writer // overrides Output when set
}

// Logger is the process's log. Make one with New and Close it at the very end.
type Logger struct {
	zap     *zap.Logger
	level   zap.AtomicLevel
	encoder zapcore.Encoder
	console bool
	writer  *writer
}

// New opens the log. It fails, naming the object, on an unknown level or format and on a file that can't be written.
// It starts a goroutine, which Close ends.
func New(o Options) (*Logger, error) {
	l := &Logger{level: zap.NewAtomicLevel()}
	if o.Level != "" {
		if err := l.SetLevel(o.Level); err != nil {
			return nil, err
		}
	}
	switch o.Format {
	case "", "json":
		l.encoder = newJSONEncoder()
	case "console":
		l.encoder, l.console = newConsoleEncoder(), true
	default:
		return nil, fmt.Errorf("log format %q is unknown: it is json or console", o.Format)
	}
	sink, end, err := openSink(o)
	if err != nil {
		return nil, err
	}
	l.writer = newWriter(sink, end, l.droppedNotice)
	// An error of zap's own has nowhere better to go than the standard error, which is its default.
	l.zap = zap.New(zapcore.NewCore(l.encoder, l.writer, l.level))
	return l, nil
}

// openSink opens the sink, and says how it is closed.
func openSink(o Options) (sink io.Writer, end func() error, err error) {
	stays := func() error { return nil } // it isn't ours
	switch {
	case o.Writer != nil:
		return o.Writer, stays, nil
	case o.Output == "" || o.Output == "stdout":
		return os.Stdout, stays, nil
	case o.Output == "stderr":
		return os.Stderr, stays, nil
	}
	f, err := openFile(o)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// droppedNotice is the line that stands where lines are missing.
func (l *Logger) droppedNotice(lines uint64) []byte {
	entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "log lines dropped"}
	b, err := l.encoder.EncodeEntry(entry, []zapcore.Field{zap.Uint64("lines", lines)})
	if err != nil { // zap's encoders fail on reflected fields only
		return nil
	}
	return b.Bytes()
}

// Zap returns the logger for ordinary lines.
func (l *Logger) Zap() *zap.Logger { return l.zap }

// Level returns the least level that is logged: debug, info, warn or error.
func (l *Logger) Level() string { return l.level.String() }

// SetLevel changes the least level that is logged, at once and for every logger derived from Zap. The access log has
// its own switch and doesn't follow it. An unknown level is an error and changes nothing.
func (l *Logger) SetLevel(level string) error {
	switch level {
	case "debug", "info", "warn", "error":
		return l.level.UnmarshalText([]byte(level))
	}
	return fmt.Errorf("log level %q is unknown: it is debug, info, warn or error", level)
}

// Dropped returns how many lines could not be written since the start.
func (l *Logger) Dropped() uint64 { return l.writer.dropped.Load() }

// Sync waits until everything logged before the call has been handed to the sink. Its error is ctx's, if that is done
// before.
func (l *Logger) Sync(ctx context.Context) error {
	if err := l.writer.flush(ctx); err != nil {
		return fmt.Errorf("flushing log: %w", err)
	}
	return nil
}

// Close writes what is left and closes a log file. If ctx is done before because the sink is stuck, the error is ctx's,
// and the goroutine that hangs in it is left behind. A sink that refused lines, and a notice of that as well, gives its
// own error. Both say how many lines are missing. Lines logged later are dropped. A second Close waits like the first.
func (l *Logger) Close(ctx context.Context) error {
	err := l.writer.close(ctx)
	if err == nil {
		return nil
	}
	if missing := l.writer.missing(); missing > 0 {
		return fmt.Errorf("closing log, of which up to %d lines are missing: %w", missing, err)
	}
	return fmt.Errorf("closing log: %w", err)
}

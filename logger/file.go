package logger

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	defaultMaxSize = 100 << 20
	filePerm       = 0o600
	// minRotation keeps two rotations apart, because lumberjack names a backup by the millisecond and would replace one
	// by the next.
	minRotation = 2 * time.Millisecond
)

// file is a log file that rotates. lumberjack counts whole mebibytes and refuses a write over its limit, so its own
// limit is out of reach and the size is kept here, to the byte. It is used by the writer's goroutine alone.
type file struct {
	lumberjack *lumberjack.Logger
	size, max  int64
	rotated    time.Time
}

// openFile makes the file if it isn't there, and makes it private: lumberjack gives later files the mode of the first.
// The folder has to be there, because one that is missing is more often a typing error or a volume not mounted.
func openFile(o Options) (*file, error) {
	path := o.Output
	if info, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("opening log file %s: folder: %w", path, err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("opening log file %s: %s is not a folder", path, filepath.Dir(path))
	}
	// A device or pipe can't be renamed aside, and opening a pipe could hang.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("opening log file %s: not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, filePerm)
	if err != nil {
		return nil, fmt.Errorf("opening log file: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written through it
	if err := f.Chmod(filePerm); err != nil {
		return nil, fmt.Errorf("making log file private: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading size of log file: %w", err)
	}
	out := &file{
		lumberjack: &lumberjack.Logger{
			Filename:   path,
			MaxSize:    1 << 30, // MiB
			MaxBackups: o.MaxBackups,
			MaxAge:     o.MaxAgeDays,
			Compress:   o.Compress,
		},
		size: info.Size(),
		max:  o.MaxSize,
	}
	if out.max <= 0 {
		out.max = defaultMaxSize
	}
	return out, nil
}

// Write appends lines. They stay together in one file, so that one may be larger than the limit by what is written at
// once. A file that can't be rotated is written on.
func (f *file) Write(lines []byte) (int, error) {
	if f.size > 0 && f.size+int64(len(lines)) > f.max && time.Since(f.rotated) > minRotation {
		if err := f.lumberjack.Rotate(); err == nil {
			f.size, f.rotated = 0, time.Now()
		}
	}
	n, err := f.lumberjack.Write(lines)
	f.size += int64(n)
	return n, err
}

func (f *file) Close() error {
	if err := f.lumberjack.Close(); err != nil {
		return fmt.Errorf("closing log file %s: %w", f.lumberjack.Filename, err)
	}
	return nil
}

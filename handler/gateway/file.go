package gateway

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"gatehouse/helper/config"
)

// FileCheck judges whether the files that a configuration names are there, for
// who is about to read them: what is in them is judged later, when each is read.
func FileCheck() config.Check { return config.Check{File: readable, Folder: isFolder} }

// readable doesn't open what isn't a regular file: a pipe is read once.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return file.Close()
	}
	if info.IsDir() {
		return &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	return nil
}

func isFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", path)
	}
	return err
}

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	if err := checkPath(path, 1<<62); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// ReadFile reads a regular file of at most 64 MiB whole.
func ReadFile(path string) ([]byte, error) {
	if err := checkPath(path, 64<<20); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func checkPath(path string, most int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	err = CheckRegular(info)
	if err == nil && info.Size() > most {
		err = fmt.Errorf("it has more than %d MiB, the most that is read of such a file", most>>20)
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// CheckRegular returns an error that says what a file is, unless it is a regular one.
func CheckRegular(info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("it is a folder, not a file")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a pipe; only regular files are read, so write its content to one")
	case mode&fs.ModeSocket != 0:
		return errors.New("it is a socket; only regular files are read")
	case mode&fs.ModeDevice != 0:
		return errors.New("it is a device; only regular files are read")
	}
	return errors.New("it is not a regular file")
}

// WithoutPath leaves out the path of an error of the operating system, for messages that name the file already.
func WithoutPath(err error) error {
	if at, ok := err.(*fs.PathError); ok {
		return at.Err
	}
	return err
}

// Same reports whether two paths name one file, by links or another spelling too. The file need not be there.
func Same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

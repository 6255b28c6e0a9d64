package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// maxMiB bounds what is read of a file as a whole.
const maxMiB = 64

// ReadFile reads a regular file whole. A file of more than 64 MiB is an error.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMiB<<20+1))
	if err == nil && len(data) > maxMiB<<20 {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d MiB, the most that is read of such a file", maxMiB)}
	}
	return data, err
}

func checkPath(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := CheckRegular(info); err != nil {
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

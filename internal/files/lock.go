package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrInUse is the error of [Lock] for a file that another process, or this one, has locked.
var ErrInUse = errors.New("another run is writing to it")

var errReplaced = errors.New("the file was replaced while it was opened")

// Hold waits until no other process, or another part of this one, holds the file at path, and holds it until
// release. The lock is that of a file beside it, whose name ends in .lock: the file itself may be missing,
// and may be replaced. The operating system ends the lock of a process that dies. Waits is called once if
// Hold has to wait; it may be nil. If ctx is done first, the error is that of ctx.
func Hold(ctx context.Context, path string, waits func()) (release func() error, err error) {
	if path, err = followLinks(path); err != nil {
		return nil, err
	}
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		release, err := hold(path + ".lock")
		if err == nil || !(errors.Is(err, ErrInUse) || errors.Is(err, errReplaced) || errors.Is(err, fs.ErrNotExist) && folderExists(path)) {
			return release, err
		}
		if waits != nil {
			waits()
			waits = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the process that holds it: %w", ctx.Err())
		case <-time.After(wait):
		}
	}
}

// The times between two attempts of Hold, the first and the longest. A file is mostly held for a moment, but a search may take hours.
const firstWait, lastWait = 5 * time.Millisecond, 500 * time.Millisecond

func folderExists(path string) bool {
	_, err := os.Stat(filepath.Dir(path))
	return err == nil
}

// hold takes the lock file at path, if nobody has it. The holder removes it before it gives the lock back: then
// those that have opened the same file find that it is no longer at its path.
func hold(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if _, err := Lock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() error {
		_ = os.Remove(path) // Windows removes no open file: there it stays
		return f.Close()
	}, nil
}

// Lock takes an open file for this process until unlock, the file's Close or the end of the
// process. Others can still read it. A file that is no longer at its path cannot be locked.
func Lock(f *os.File) (unlock func() error, err error) {
	unlock, err = lock(f)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Stat(f.Name()); err == nil && !os.SameFile(opened, there) {
			err = errReplaced
		}
	}
	if err != nil {
		_ = unlock()
		return nil, err
	}
	return unlock, nil
}

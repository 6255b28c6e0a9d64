//go:build !windows

package record

import (
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

// lock takes the log for this process until unlock or the end of the process. The lock is
// advisory: others can read the file.
func lock(f *os.File) (unlock func() error, err error) {
	l := flock.New(f.Name())
	ok, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errInUse
	}
	if err := sameFile(l, f); err != nil {
		_ = l.Unlock()
		return nil, err
	}
	return l.Unlock, nil
}

// sameFile makes sure that the lock, which opens the path by itself, has the file that was
// opened.
func sameFile(l *flock.Flock, f *os.File) error {
	locked, err := l.Stat()
	if err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(locked, opened) {
		return fmt.Errorf("the file was replaced while it was opened")
	}
	return nil
}

//go:build !windows

package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func lock(f *os.File) (unlock func() error, err error) {
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, ErrInUse
	case err != nil:
		return nil, err
	}
	return func() error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }, nil
}

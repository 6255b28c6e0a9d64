package files

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a byte far behind any end of the file: locks of Windows are mandatory, and others
// shall be able to read all that is in the file.
func lock(f *os.File) (unlock func() error, err error) {
	far := windows.Overlapped{Offset: 0xfffffffe, OffsetHigh: 0x7fffffff}
	const mode = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), mode, 0, 1, 0, &far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	return func() error { return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &far) }, nil
}

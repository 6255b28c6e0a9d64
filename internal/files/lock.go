package files

import (
	"errors"
	"fmt"
	"os"
)

// ErrInUse is the error of [Lock] for a file that another process, or this one, has locked.
var ErrInUse = errors.New("another run is writing to it")

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
			err = fmt.Errorf("the file was replaced while it was opened")
		}
	}
	if err != nil {
		_ = unlock()
		return nil, err
	}
	return unlock, nil
}

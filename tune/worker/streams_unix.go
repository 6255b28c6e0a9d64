//go:build unix

package worker

import (
	"fmt"
	"os"
	"syscall"
)

// takeStreams takes standard input and output for the protocol, out of reach of what the
// driver, its compiler and their children print or read: descriptor 1 becomes standard
// error, descriptor 0 reads nothing.
func takeStreams() (in, out *os.File, err error) {
	files := [2]*os.File{}
	for fd := range files {
		syscall.ForkLock.RLock()
		kept, err := syscall.Dup(fd)
		if err == nil {
			syscall.CloseOnExec(kept)
		}
		syscall.ForkLock.RUnlock()
		if err != nil {
			return nil, nil, fmt.Errorf("keep descriptor %d: %w", fd, err)
		}
		files[fd] = os.NewFile(uintptr(kept), "protocol")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if err := duplicate(int(null.Fd()), 0); err != nil {
		return nil, nil, fmt.Errorf("give standard input away: %w", err)
	}
	if err := duplicate(2, 1); err != nil {
		return nil, nil, fmt.Errorf("give standard output away: %w", err)
	}
	return files[0], files[1], nil
}

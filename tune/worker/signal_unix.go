//go:build unix

package worker

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalText is a signal by its name and its meaning: «SIGSEGV (segmentation fault)».
func signalText(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return fmt.Sprintf("%s (%s)", name, s)
	}
	return s.String()
}

package worker

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// takeStreams takes standard input and output for the protocol. Drivers are loaded later,
// and find standard error in the place of standard output.
func takeStreams() (in, out *os.File, err error) {
	in, out = os.Stdin, os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, fmt.Errorf("give standard output away: %w", err)
	}
	os.Stdout = os.Stderr
	return in, out, nil
}

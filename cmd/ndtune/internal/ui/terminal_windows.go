package ui

import (
	"os"

	"golang.org/x/sys/windows"
)

// movesCursor makes a console obey escape sequences, which it must be asked for, and reports
// whether it does.
func movesCursor(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

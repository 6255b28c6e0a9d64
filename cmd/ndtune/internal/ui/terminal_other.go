//go:build !windows

package ui

import (
	"os"
)

// movesCursor reports whether a terminal obeys escape sequences: all do that are not dumb.
func movesCursor(*os.File) bool { return true }

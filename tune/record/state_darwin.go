package record

import (
	"os"
	"path/filepath"
)

// stateFolder is where programs keep what is neither settings nor documents. Who sets
// XDG_STATE_HOME on macOS means it.
func stateFolder() (string, error) {
	if folder := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(folder) {
		return folder, nil
	}
	return homeFolder("Library", "Application Support")
}

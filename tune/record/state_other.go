//go:build !windows && !darwin

package record

import (
	"os"
	"path/filepath"
)

// stateFolder is where programs keep what is neither settings nor documents, after the XDG
// Base Directory Specification: a relative path in the environment is left out of account.
func stateFolder() (string, error) {
	if folder := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(folder) {
		return folder, nil
	}
	return homeFolder(".local", "state")
}

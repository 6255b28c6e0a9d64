package record

import "os"

// stateFolder is where programs keep what is neither settings nor documents.
func stateFolder() (string, error) {
	if folder := os.Getenv("LocalAppData"); folder != "" {
		return folder, nil
	}
	return homeFolder("AppData", "Local")
}

//go:build unix

package capture

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesInTheirPlace: a pipe is waited for nowhere, as a capture, its folders and its files.
func TestPipesInTheirPlace(t *testing.T) {
	for _, name := range []string{"", "Pre", "Post", "kernelName.txt", "worksizes.txt", "Argument0.bin", "ArgumentDataTypes.txt", OriginFile} {
		folder := copied(t, recorded("local", "Enqueue_0_sums"))
		path := filepath.Join(folder, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(folder)
		if err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "not a directory") && !strings.Contains(err.Error(), "not a folder") && !strings.Contains(err.Error(), "it is a pipe") {
			t.Errorf("with a pipe as %s: %v", path, err)
		}
	}
}

//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// TestAHungStrategyEndsOnInterrupt interrupts a search whose strategy never answers. The program, and what it has started, ends with the
// search.
func TestAHungStrategyEndsOnInterrupt(t *testing.T) {
	folder := specFolder(t)
	script := "read hello\necho '{\"ready\": 1}'\nread ask\necho asked >&2\nsleep 1000 & wait\n"
	if err := os.WriteFile(filepath.Join(folder, "hang.sh"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	s := startSearch(t, folder, nil, "tune", "kernel.yaml", "--workers", "1", "-v", "--strategy", "command:sh hang.sh")
	s.await(`^strategy: asked$`)
	s.signal(syscall.SIGINT)
	if ended := s.end(); ended.status != ui.StatusInterrupted {
		t.Errorf("%+v", ended)
	}
}

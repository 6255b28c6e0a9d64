//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// TestInterruptedCapture interrupts ndtune while a program is captured: the program gets the signal, and what was captured can be used.
func TestInterruptedCapture(t *testing.T) {
	captures, err := filepath.Abs(filepath.Join("..", "..", "tune", "capture", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{"NDTUNE_CLILOADER=" + filepath.Join(captures, "cliloader"), "RECORDED=" + filepath.Join(captures, "shapes")}
	folder := t.TempDir()
	const program = `trap 'echo caught; exit 5' INT; echo ready; while :; do :; done`
	s := startProgram(t, folder, environment, "capture", "run", "--once", "-o", "captured", "--", "sh", "-c", program)
	s.read(1)
	if err := syscall.Kill(s.command.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := s.end()
	if ended.status != ui.StatusInterrupted || !strings.HasPrefix(ended.out, "ready\ncaught\n") ||
		!strings.Contains(ended.notes, "ndtune: sh ended with exit status 5.") || !strings.Contains(ended.out, "\n  next: ndtune capture tune captured ") {
		t.Errorf("status %d, %s\n%s", ended.status, ended.out, ended.notes)
	}
	spec := filepath.Join(folder, "captured", "scale", "kernel.yaml")
	if _, err := os.Stat(spec); err == nil {
		t.Error("the command went on after the signal")
	}
	if ended := startSearch(t, folder, environment, "capture", "tune", "captured").end(); ended.status != 0 {
		t.Errorf("status %d of what goes on\n%s", ended.status, ended.notes)
	}
	if _, err := os.Stat(spec); err != nil {
		t.Error(err)
	}

	// A search that is interrupted still has an answer.
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	var printed, notes bytes.Buffer
	status := execute(interrupted, []string{"ndtune", "capture", "tune", filepath.Join(folder, "captured"), "--json"}, nil, &ui.Output{To: &printed}, &notes, nil)
	if status != ui.StatusInterrupted || !strings.Contains(printed.String(), `"here_ms"`) {
		t.Errorf("status %d, %s%s; want what is known of scale", status, &printed, &notes)
	}

	s = startProgram(t, folder, environment, "capture", "run", "-o", "again", "--", "sh", "-c", program)
	s.read(1)
	s.signal(syscall.SIGINT) // as a terminal does, to both
	if ended := s.end(); ended.status != ui.StatusInterrupted || !strings.Contains(ended.notes, "Nothing was captured; --once captures") {
		t.Errorf("status %d, %s\n%s", ended.status, ended.out, ended.notes)
	}
}

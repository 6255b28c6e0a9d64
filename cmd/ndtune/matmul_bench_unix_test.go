//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// TestBenchInterrupted sends a signal, as a terminal does, to all processes of a comparison that
// would take minutes, when the sweep begins. It ends with status 130; what was measured is
// printed and written, and if nothing was, nothing is.
func TestBenchInterrupted(t *testing.T) {
	folder := t.TempDir()
	tuned := startSearch(t, folder, nil, "matmul", "tune", "--kernel", "naive", "--size", "16", "--max-evals", "1", "--log", "naive.jsonl").end()
	if tuned.status != 0 {
		t.Fatalf("%+v", tuned)
	}
	s := startSearch(t, folder, nil, "matmul", "bench", "--kernel", "naive", "--tuned", "naive.jsonl", "--sizes", "16,4096",
		"--cpu-limit", "1h", "--time-limit", "1h", "-o", "x.csv")
	s.await(`^cuBLAS`) // the last of those that are opened
	s.signal(syscall.SIGINT)
	ended := s.end()
	if ended.status != ui.StatusInterrupted {
		t.Errorf("%+v", ended)
	}
	written, err := os.ReadFile(filepath.Join(folder, "x.csv"))
	printed := strings.Contains(ended.out, "\nmultiplication alone\n")
	if printed != (err == nil) || printed != strings.Contains(ended.notes, "results: x.csv") {
		t.Errorf("printed: %v; written: %v\n%+v", printed, err, ended)
	}
	if printed && !strings.Contains(string(written), ",interrupted,") {
		t.Errorf("nothing was interrupted:\n%s", written)
	}
}

//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
)

const peakedSpec = `kernel: {name: move, source: "__kernel void move(__global float *out, __global const float *in) { out[get_global_id(0)] = in[get_global_id(0)]; } // standin: move is copy(out, in)"}
problem_size: 4096
arguments:
  - {name: out, type: float32, size: 4096, output: true}
  - {name: in, type: float32, size: 4096, fill: random}
parameters: {block_size_x: [32, 64]}
roofline: {bytes: 8 * 4096}
`

// Ctrl-C while peaks are measured ends that; the search has its result.
func TestCtrlCDuringPeaksKeepsTheResult(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "move.yaml"), []byte(peakedSpec), 0o666); err != nil {
		t.Fatal(err)
	}
	s := startSearch(t, folder, []string{"NDTUNE_NO_PEAK=", standin.FaultsVariable + "=peak_copy hangs"}, "tune", "move.yaml", "--log", "log.jsonl", "-o", "o.csv")
	s.await(`^Measuring the peaks of .*, once for all runs`)
	s.signal(syscall.SIGINT)
	ended := s.end()
	if ended.status != 0 {
		t.Errorf("status %d", ended.status)
	}
	if !strings.Contains(ended.out, "\nbest performing configuration: block_size_x=") || !strings.Contains(ended.notes, "Interrupted: no % of limit\n") {
		t.Errorf("printed\n%s\nand\n%s", ended.out, ended.notes)
	}
	for name, want := range map[string]int{"o.csv": 3, "log.jsonl": 5} { // header, results; in the log two of the final measurement
		text, err := os.ReadFile(filepath.Join(folder, name))
		if n := strings.Count(string(text), "\n"); err != nil || n != want || strings.Contains(string(text), "% of limit") {
			t.Errorf("%s: %v, %d lines\n%s", name, err, n, text)
		}
	}
}
